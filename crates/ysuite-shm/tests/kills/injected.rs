//! Each system call of a process once fails with each error that is possible for it. The call then is repeated, or done
//! without, or the channel says that it was refused; nothing is lost or doubled, nobody hangs, and nothing stays behind.
//! Beside the injected error the kernel does what it does: the call is not made.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ysuite_shm::Error;

use crate::kinds::trades::{Numbers, OfBytes};
use crate::kinds::{Bytes, Careful, Kind, Pipe, Place, Single, Stop, join};
use crate::process::{Child, Shared, here};
use crate::{broadcast, call, loan, process, remains, watch, work};

/// Not a guard: a wait with a limit polls once more when it ends, and would find what nobody had woken it for.
const LONG: Duration = Duration::MAX;
const MESSAGES: u64 = 10;

/// The errors that are possible for a call, beside those that say that the caller is wrong. A queue that is full holds a
/// wake-up already, so `EAGAIN` of a call that wakes would be a lie.
fn errors(call: libc::c_long, access: u64) -> &'static [i32] {
    match call {
        libc::SYS_memfd_create | libc::SYS_eventfd2 | libc::SYS_epoll_create1 | libc::SYS_socket => {
            &[libc::EMFILE, libc::ENFILE, libc::ENOMEM]
        }
        libc::SYS_pidfd_open => &[libc::EMFILE, libc::ENOMEM, libc::EPERM],
        libc::SYS_ftruncate => &[libc::EINTR],
        libc::SYS_fallocate => &[libc::EINTR, libc::ENOSPC, libc::ENOMEM],
        // Not of the allocator, whose failure is fatal.
        libc::SYS_mmap if access == 0 || access == libc::PROT_READ as u64 => &[libc::ENOMEM],
        libc::SYS_epoll_ctl => &[libc::ENOMEM, libc::ENOSPC],
        libc::SYS_epoll_wait | libc::SYS_epoll_pwait | libc::SYS_poll | libc::SYS_fstatfs | libc::SYS_write => {
            &[libc::EINTR]
        }
        libc::SYS_sendmsg => &[libc::EINTR, libc::ENOBUFS, libc::ENOMEM, libc::ETOOMANYREFS],
        libc::SYS_recvmsg => &[libc::EINTR, libc::ENOMEM],
        libc::SYS_sendto => &[libc::EINTR, libc::ENOBUFS, libc::ENOMEM],
        libc::SYS_recvfrom => &[libc::EINTR, libc::ENOMEM],
        libc::SYS_accept4 => &[libc::EINTR, libc::ECONNABORTED, libc::EMFILE, libc::ENOMEM],
        libc::SYS_connect => &[libc::EINTR, libc::EAGAIN],
        libc::SYS_bind | libc::SYS_listen => &[libc::ENOMEM],
        libc::SYS_membarrier => &[libc::ENOMEM, libc::EPERM],
        libc::SYS_getsockopt => &[libc::ENOMEM],
        _ => &[],
    }
}

/// What came of one call.
#[derive(Default)]
pub(crate) struct Failure {
    /// The process has made this call.
    pub(crate) is_inside: bool,
    pub(crate) errors: &'static [i32],
    pub(crate) call: libc::c_long,
    pub(crate) lost: u64,
    pub(crate) doubled: u64,
}

/// What the process has come to: in a word that it shares.
const FINISHED: u64 = 1;
const REFUSED: u64 = 2;

fn said(outcome: Result<(), Error>) -> u64 {
    match outcome {
        Ok(()) => FINISHED,
        Err(Error::Refused(_)) => REFUSED,
        Err(other) => panic!("{other:?}"),
    }
}

fn stopped(stop: Stop) -> Error {
    match stop {
        Stop::Ended(error) => error,
        Stop::Time => panic!("it hangs"),
    }
}

fn send_all<K: Kind>(place: Place, sent: &Shared, back: &Shared) -> Result<(), Error> {
    let mut sender = K::sender(place)?;
    K::set_spin(&mut sender, 0);
    for message in 0..MESSAGES {
        if let Err(stop) = K::send(&mut sender, message, LONG) {
            back.set(K::unread(sender).expect("it has ended").first().map_or(message, |first| *first));
            return Err(stopped(stop));
        }
        sent.set(message + 1);
    }
    Ok(())
}

/// A sender of which this call fails with this one of its errors.
fn sender<K: Kind>(call: u64, error: usize) -> Failure {
    let [sent, back, outcome] = [(); 3].map(|()| Shared::new());
    back.set(u64::MAX);
    let (place, mut receiver) = K::hosted();
    let child = Child::traced(|| {
        here();
        outcome.set(said(send_all::<K>(place, &sent, &back)));
        here();
    });
    let reader = thread::spawn(move || {
        K::set_receiver_spin(&mut receiver, 0);
        let mut next = 0;
        loop {
            match K::recv(&mut receiver, LONG) {
                Ok(message) => assert_eq!(message, next, "in order"),
                Err(stop) => return (next, stopped(stop)),
            }
            next += 1;
        }
    });
    let child = child.stopped();
    let (is_inside, call, errors) = inject(&child, call, error);
    child.kill();
    let (received, _) = reader.join().unwrap();
    // Where the channel came about, all arrives; else what did not arrive comes back.
    let lost = sent.get().min(back.get()).saturating_sub(received);
    assert!(outcome.get() == FINISHED || outcome.get() == REFUSED, "{}", outcome.get());
    Failure { is_inside, errors, call, lost, doubled: received.saturating_sub(sent.get() + 1) }
}

/// A party of a crowd, whose call fails as above in what it does. `beside` starts what the rest of the crowd does until
/// it is over.
pub(crate) fn in_a_crowd(
    act: impl FnOnce() -> Result<(), Error>,
    beside: impl FnOnce(Arc<AtomicBool>) -> thread::JoinHandle<()>,
    call: u64,
    error: usize,
) -> Failure {
    let (outcome, begun) = (Shared::new(), Shared::new());
    let child = Child::traced(|| {
        while begun.get() == 0 {
            thread::yield_now();
        }
        here();
        outcome.set(said(act()));
        here();
    });
    let is_over = Arc::new(AtomicBool::new(false));
    let rest = beside(Arc::clone(&is_over));
    begun.set(1);
    let child = child.stopped();
    let (is_inside, call, errors) = inject(&child, call, error);
    child.kill();
    // ORDERING: Relaxed; a test.
    is_over.store(true, Ordering::Relaxed);
    rest.join().unwrap();
    assert!(outcome.get() != 0, "it has come to an end");
    Failure { is_inside, errors, call, lost: 0, doubled: 0 }
}

fn receive_all<K: Kind>(place: Place, received: &Shared) -> Result<(), Error> {
    let mut receiver = K::receiver(place)?;
    K::set_receiver_spin(&mut receiver, 0);
    for message in 0..MESSAGES {
        match K::recv(&mut receiver, LONG) {
            Ok(found) => assert_eq!(found, message, "in order"),
            Err(stop) => return Err(stopped(stop)),
        }
        received.set(message + 1);
    }
    Ok(())
}

/// Sends from here on until the end: from where on nothing was consumed.
fn send_until_end<K: Kind>(mut sender: K::Sender, begin: u64) -> u64 {
    K::set_spin(&mut sender, 0);
    let mut sent = begin;
    while K::send(&mut sender, sent, LONG).map_err(stopped).is_ok() {
        sent += 1;
    }
    let unread = K::unread(sender).expect("it has ended");
    let from = unread.first().copied().unwrap_or(sent);
    assert!(unread.iter().copied().eq(from..sent), "{unread:?} of {sent}");
    from
}

/// As [`sender`], of a receiver.
fn receiver<K: Kind>(call: u64, error: usize) -> Failure {
    let [received, outcome] = [(); 2].map(|()| Shared::new());
    let (to, from) = K::places();
    let child = Child::traced(|| {
        here();
        outcome.set(said(receive_all::<K>(from, &received)));
        here();
    });
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let writer = thread::spawn(move || {
        // A funnel that had to refuse a sender goes on for the next.
        let name = if let Place::Name(name) = &to { Some(name.clone()) } else { None };
        let (mut place, mut from) = (to, 0);
        loop {
            // ORDERING: Relaxed; a test.
            let is_over = || over.load(std::sync::atomic::Ordering::Relaxed);
            let Some(sender) = join::<K>(place, is_over) else { return from };
            from = send_until_end::<K>(sender.unwrap(), from);
            let Some(name) = &name else { return from };
            place = Place::Name(name.clone());
        }
    });
    let child = child.stopped();
    let (is_inside, call, errors) = inject(&child, call, error);
    child.kill();
    // ORDERING: Relaxed; a test.
    is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    let (from, received) = (writer.join().unwrap(), received.get());
    assert!(outcome.get() == FINISHED || outcome.get() == REFUSED, "{}", outcome.get());
    Failure { is_inside, errors, call, lost: from.saturating_sub(received), doubled: received.saturating_sub(from) }
}

/// Runs the child to its next place, and lets this one of its calls fail. Whether it has made it, which it was, and the
/// errors that are possible for it.
fn inject(child: &Child, call: u64, error: usize) -> (bool, libc::c_long, &'static [i32]) {
    let mut found = (false, 0, &[][..]);
    let mut calls = 0;
    while child.to_next_call() {
        if calls == call {
            let registers = child.registers();
            let number = registers.orig_rax as libc::c_long;
            found = (true, number, errors(number, registers.rdx));
            if let Some(error) = found.2.get(error) {
                fail(child, registers, *error);
                calls += 1;
                continue;
            }
        }
        // Out of the call again.
        assert!(child.to_next_call());
        calls += 1;
    }
    found
}

/// Lets the call into which a child is about to go fail with this error. It is not made.
fn fail(child: &Child, mut registers: libc::user_regs_struct, error: i32) {
    registers.orig_rax = u64::MAX;
    child.set_registers(&registers);
    assert!(child.to_next_call());
    registers.rax = (-i64::from(error)) as u64;
    child.set_registers(&registers);
}

/// A process that a signal reaches whenever it has got sixteen pages gets its memory: the kernel takes back what a call
/// has got that a signal interrupts.
pub(crate) fn interrupted_always() {
    let child = Child::traced(|| {
        here();
        drop(ysuite_shm::pipe::<u64>(200_000).unwrap());
        here();
    });
    let child = child.stopped();
    let mut interrupted = 0;
    while child.to_next_call() {
        let registers = child.registers();
        if registers.orig_rax as libc::c_long == libc::SYS_fallocate && registers.r10 > 16 * 4096 {
            fail(&child, registers, libc::EINTR);
            interrupted += 1;
            assert!(interrupted < 1_000, "it asks for as much again and again");
        } else {
            assert!(child.to_next_call());
        }
    }
    assert!(interrupted > 0);
    child.go_on();
    child.join();
}

type Attempt = fn(u64, usize) -> Failure;

fn cases_of<K: Kind>() -> [(String, Attempt); 2] {
    [
        (format!("{}: a call of a sender fails", K::NAME), sender::<K> as Attempt),
        (format!("{}: a call of a receiver fails", K::NAME), receiver::<K>),
    ]
}

/// All cases. Without a stride some calls, at places that are no multiples.
pub(crate) fn run(wanted: &str, stride: Option<u64>) {
    let cases = [cases_of::<Pipe>(), cases_of::<Careful>(), cases_of::<Bytes>(), cases_of::<Single>()];
    let of_crowds = [
        ("broadcast: a call of a sender fails".to_owned(), broadcast::sender_fails as Attempt),
        ("broadcast: a call of a receiver fails".to_owned(), broadcast::receiver_fails),
        ("watch: a call of a sender fails".to_owned(), watch::sender_fails),
        ("watch: a call of a receiver fails".to_owned(), watch::receiver_fails),
        ("loan: a call of a sender fails".to_owned(), loan::sender_fails),
        ("loan: a call of a receiver fails".to_owned(), loan::receiver_fails),
        ("work: a call of a sender fails".to_owned(), work::sender_fails::<Numbers>),
        ("work: a call of a worker fails".to_owned(), work::worker_fails::<Numbers>),
        ("call: a call of a caller fails".to_owned(), call::caller_fails::<Numbers>),
        ("call: a call of a receiver fails".to_owned(), call::receiver_fails::<Numbers>),
        ("work of bytes: a call of a sender fails".to_owned(), work::sender_fails::<OfBytes>),
        ("work of bytes: a call of a worker fails".to_owned(), work::worker_fails::<OfBytes>),
        ("call of bytes: a call of a caller fails".to_owned(), call::caller_fails::<OfBytes>),
        ("call of bytes: a call of a receiver fails".to_owned(), call::receiver_fails::<OfBytes>),
    ];
    let (mut points, mut lost, mut doubled) = (0, 0, 0);
    for (name, attempt) in cases.into_iter().flatten().chain(of_crowds).filter(|(name, _)| name.contains(wanted)) {
        process::guard(if stride.is_some() { 7200 } else { 300 });
        let name: &'static str = name.leak();
        let before = remains::count();
        let (mut call, mut failed) = (0, 0);
        loop {
            process::now(name, call);
            let mut outcome = attempt(call, 0);
            for error in 0..outcome.errors.len() {
                if error > 0 {
                    outcome = attempt(call, error);
                }
                failed += 1;
                if outcome.lost + outcome.doubled > 0 {
                    let Failure { call: number, lost, doubled, .. } = outcome;
                    let error = outcome.errors.get(error);
                    println!("{name}: call {call}, number {number}, error {error:?}: {lost} lost, {doubled} doubled");
                }
                lost += outcome.lost;
                doubled += outcome.doubled;
            }
            if !outcome.is_inside {
                break;
            }
            call += stride.map_or(3, |_| 1);
        }
        remains::assert_same(&before, name);
        println!("{name}: {failed} failures of {call} calls");
        points += failed;
    }
    println!("{points} calls failed: {lost} messages lost, {doubled} doubled");
    assert_eq!((lost, doubled), (0, 0));
}
