//! The disconnection of the kernel's mechanisms: every sent message arrives, every waiting thread is notified, nothing
//! is left.

use std::sync::atomic::{AtomicIsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use super::{packets, pipe, posix_mq, sysv_mq};
use crate::transport::message::Block;
use crate::transport::{Closed, Many, Message, Receiver, Sender, Shape, Transport, tcp_stream, unix_stream};

/// Messages that exist, in any test: one at a time.
static ALIVE: AtomicIsize = AtomicIsize::new(0);
static ONE_TEST_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A message by pointer that is counted.
struct Counted(Box<usize>);

impl Message for Counted {
    type Wire = usize;

    fn numbered(number: usize) -> Self {
        // ORDERING: Relaxed, here and below: read after all threads are joined.
        ALIVE.fetch_add(1, Ordering::Relaxed);
        Self(Box::new(number))
    }

    fn number(&self) -> usize {
        *self.0
    }

    fn into_wire(self) -> usize {
        let mut this = std::mem::ManuallyDrop::new(self);
        std::ptr::from_mut(&mut *this.0).expose_provenance()
    }

    unsafe fn from_wire(wire: usize) -> Self {
        // SAFETY: the caller guarantees that it is the address of a box from `into_wire`, and that it is used only
        // once.
        Self(unsafe { Box::from_raw(std::ptr::with_exposed_provenance_mut(wire)) })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A test that hangs reports which.
fn in_time(name: &'static str, work: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    let thread = thread::spawn(move || {
        work();
        let _ = done.send(());
    });
    if is_done.recv_timeout(Duration::from_secs(120)) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("{name} hangs");
    }
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

fn here<T: Transport>(shape: Shape, bytes: usize) -> bool {
    (T::TRAITS.available)().is_ok()
        && shape.fits(T::TRAITS.senders, T::TRAITS.receivers)
        && bytes <= (T::TRAITS.most_bytes)(shape)
}

macro_rules! each {
    ($test:ident: $($transport:ty),+ $(,)?) => {
        $( in_time(<$transport as Transport>::TRAITS.name, $test::<$transport>); )+
    };
}

macro_rules! each_shared {
    ($test:ident) => {
        each!($test: unix_stream::Waitall, packets::Datagrams, packets::Seqpackets, pipe::Pipe, posix_mq::PosixMq,
            sysv_mq::SysvMq)
    };
}

fn the_end_comes_after_the_last_message<T: Many>() {
    let shape = Shape::new(2, 3);
    if !here::<T>(shape, 8) {
        return;
    }
    for messages in [0, 1, 5] {
        let (mut senders, receivers) = T::open_many::<usize>(shape).unwrap();
        let receivers = receivers.into_iter().map(|mut receiver| {
            thread::spawn(move || {
                let received = std::iter::from_fn(|| receiver.recv().ok()).count();
                assert_eq!(receiver.recv(), Err(Closed));
                received
            })
        });
        let receivers: Vec<_> = receivers.collect();
        (0..messages).for_each(|number| senders[number % 2].send(number).unwrap());
        drop(senders);
        let received: usize = receivers.into_iter().map(|receiver| receiver.join().unwrap()).sum();
        assert_eq!(received, messages, "{}", T::TRAITS.name);
    }
}

#[test]
fn each_receiver_gets_its_messages_and_then_the_end() {
    each_shared!(the_end_comes_after_the_last_message);
}

/// Fills the queue: no room is left for the mark of the end.
fn full_at_the_end<T: Many>(room: usize) {
    let shape = Shape::new(1, 3);
    let (mut senders, mut receivers) = T::open_many::<usize>(shape).unwrap();
    (0..room).for_each(|number| senders[0].send(number).unwrap());
    drop(senders);
    // One of them leaves after a message, without waiting for the end.
    assert_eq!(receivers.pop().unwrap().recv(), Ok(0));
    let last = receivers.pop().unwrap();
    let mut receiver = receivers.pop().unwrap();
    assert!((1..room).all(|number| receiver.recv() == Ok(number)));
    drop(receiver);
    let mut last = last;
    assert_eq!((last.recv(), last.recv()), (Err(Closed), Err(Closed)));
}

#[test]
fn a_queue_that_is_full_when_its_last_sender_leaves_has_an_end_all_the_same() {
    if here::<posix_mq::PosixMq>(Shape::square(1), 8) {
        let room = posix_mq::Queue::open(8).unwrap().messages().unwrap();
        in_time("posix-mq", move || full_at_the_end::<posix_mq::PosixMq>(room as usize));
    }
    if here::<sysv_mq::SysvMq>(Shape::square(1), 8) {
        let room = sysv_mq::Queue::open().unwrap().bytes().unwrap() / 8;
        in_time("sysv-mq", move || full_at_the_end::<sysv_mq::SysvMq>(room as usize));
    }
}

/// Senders that would never stop, until they are disconnected.
fn poured_until_closed<M: Message>((senders, receivers): (Vec<impl Sender<M>>, Vec<impl Receiver<M>>)) {
    let senders = senders.into_iter().map(|mut sender| {
        thread::spawn(move || {
            let sent = (0..).take_while(|number| sender.send(M::numbered(*number)).is_ok()).count();
            assert!(sender.send(M::numbered(sent)).is_err());
        })
    });
    let senders: Vec<_> = senders.collect();
    for mut receiver in receivers {
        (0..20).for_each(|_| drop(receiver.recv().unwrap()));
    }
    senders.into_iter().for_each(|sender| sender.join().unwrap());
}

fn several_senders_are_disconnected<T: Many>() {
    let shape = Shape::new(3, 2);
    if here::<T>(shape, 8) {
        poured_until_closed(T::open_many::<Counted>(shape).unwrap());
        assert_eq!(ALIVE.load(Ordering::Relaxed), 0, "{}", T::TRAITS.name);
    }
    if here::<T>(shape, 4_096) {
        poured_until_closed(T::open_many::<Block<512>>(shape).unwrap());
    }
}

/// The longest message does not fit into every mechanism at once: its sender waits in the middle of it.
fn a_sender_is_disconnected<T: Transport>() {
    if here::<T>(Shape::ONE_TO_ONE, 8) {
        let (sender, receiver) = T::open::<Counted>().unwrap();
        poured_until_closed((vec![sender], vec![receiver]));
        assert_eq!(ALIVE.load(Ordering::Relaxed), 0, "{}", T::TRAITS.name);
    }
    if here::<T>(Shape::ONE_TO_ONE, 65_536) {
        let (sender, receiver) = T::open::<Block<8_192>>().unwrap();
        poured_until_closed((vec![sender], vec![receiver]));
    }
}

#[test]
fn senders_that_wait_for_room_are_disconnected_and_no_message_is_leaked() {
    let _alone = ONE_TEST_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    each_shared!(several_senders_are_disconnected);
    each_shared!(a_sender_is_disconnected);
    each!(a_sender_is_disconnected: unix_stream::Polled, tcp_stream::TcpLoopback);
}

fn nothing_is_left<T: Transport>() {
    if !here::<T>(Shape::ONE_TO_ONE, 8) {
        return;
    }
    for receiver_first in [true, false] {
        let (mut sender, mut receiver) = T::open::<Counted>().unwrap();
        (0..5).for_each(|number| sender.send(Counted::numbered(number)).unwrap());
        assert_eq!(receiver.recv().unwrap().number(), 0);
        if receiver_first {
            drop(receiver);
            assert!(sender.send(Counted::numbered(5)).is_err());
        } else {
            drop(sender);
        }
    }
    assert_eq!(ALIVE.load(Ordering::Relaxed), 0, "{}", T::TRAITS.name);
}

#[test]
fn messages_by_pointer_that_were_not_received_are_freed() {
    let _alone = ONE_TEST_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    each_shared!(nothing_is_left);
    each!(nothing_is_left: unix_stream::Polled, tcp_stream::TcpLoopback);
}

#[test]
fn each_says_how_much_it_can_carry() {
    let most = |traits: crate::transport::Traits, shape| (traits.most_bytes)(shape);
    let two = Shape::square(2);
    assert_eq!(most(pipe::Pipe::TRAITS, two), 4_096);
    assert_eq!(most(pipe::Pipe::TRAITS, Shape::ONE_TO_ONE), usize::MAX);
    assert_eq!(most(unix_stream::Waitall::TRAITS, two), 4_096);
    let setting = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<usize>().ok();
    if let Some(bytes) = setting("/proc/sys/fs/mqueue/msgsize_max") {
        assert_eq!(most(posix_mq::PosixMq::TRAITS, two), bytes);
    }
    if let Some(bytes) = setting("/proc/sys/kernel/msgmax") {
        assert!(most(sysv_mq::SysvMq::TRAITS, two) <= bytes);
    }
    let longest = most(packets::Datagrams::TRAITS, two);
    if let Some(bytes) = setting("/proc/sys/net/core/wmem_max") {
        assert_eq!(longest, 2 * bytes - 32);
        let pair = packets::Pair::open(rustix::net::SocketType::DGRAM).unwrap();
        let (sent, refused) = (longest.min(65_536), Err(rustix::io::Errno::MSGSIZE));
        assert_eq!((pair.send(&vec![0; sent]), pair.send(&vec![0; longest + 1])), (Ok(sent), refused));
    }
}
