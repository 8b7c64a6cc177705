//! Every public name that other code may already be compiled against, used as that code uses it: a program that stops
//! compiling here has users who stop compiling there.

use std::iter::FusedIterator;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use ysuite::{RecvError, RecvTimeoutError, SendError, Spin, TryRecvError, TrySendError};
use ysuite::{mpmc, mpsc, oneshot, spsc};

const LONG: Duration = Duration::from_secs(100);

macro_rules! every_name_of_a_channel {
    ($sender:ident, $receiver:ident) => {
        $sender.send(1).unwrap();
        $sender.try_send(2).unwrap();
        $sender.send_timeout(3, LONG).unwrap();
        $sender.send_deadline(4, Instant::now() + LONG).unwrap();
        drop($sender.send_async(0));
        let sent: Result<usize, SendError<_>> = $sender.send_batch([5, 6]);
        assert_eq!(sent.unwrap(), 2);
        let (length, empty, full) = ($sender.len(), $sender.is_empty(), $sender.is_full());
        assert_eq!((length, empty, full, $sender.is_disconnected()), (6, false, false, false));
        let capacity: Option<usize> = $sender.capacity();
        assert_eq!(capacity, $receiver.capacity());

        for spin in [Spin::None, Spin::Forever, Spin::Adaptive] {
            $receiver.set_spin(spin);
        }
        assert_eq!(($receiver.len(), $receiver.is_empty(), $receiver.is_disconnected()), (6, false, false));
        assert!(!$receiver.is_full());
        assert_eq!($receiver.recv(), Ok(1));
        assert_eq!($receiver.try_recv(), Ok(2));
        assert_eq!($receiver.recv_timeout(LONG), Ok(3));
        assert_eq!($receiver.recv_deadline(Instant::now() + LONG), Ok(4));
        drop($receiver.recv_async());
        assert!($receiver.poll_recv(&mut Context::from_waker(Waker::noop())).is_ready());
        let mut taken = Vec::new();
        let batch: Result<usize, RecvError> = $receiver.recv_batch(&mut taken, 9);
        assert_eq!((batch, &taken[..]), (Ok(1), &[6][..]));
        assert_eq!($receiver.try_recv_batch(&mut taken, 9), Err(TryRecvError::Empty));
        assert_eq!($receiver.try_iter().count(), 0);
        assert_eq!($receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
    };
}

macro_rules! every_name_of_a_batch {
    ($sender:ident, $receiver:ident) => {
        $sender.write(7).unwrap();
        $sender.write(8).unwrap();
        assert_eq!($sender.unwrite(), Some(8));
        let awake: bool = $sender.flush();
        assert!(awake);
        assert_eq!($receiver.peek(), Some(&7));
        drop($sender);
        assert_eq!($receiver.iter().count(), 1);
        assert_eq!($receiver.into_iter().count(), 0);
    };
}

#[test]
fn a_pipe() {
    for (mut sender, mut receiver) in [spsc::unbounded(), spsc::bounded(8)] {
        every_name_of_a_channel!(sender, receiver);
        every_name_of_a_batch!(sender, receiver);
    }
}

#[test]
fn a_funnel() {
    for (first, mut receiver) in [mpsc::unbounded(), mpsc::bounded(8)] {
        let mut sender = first.clone();
        drop(first);
        every_name_of_a_channel!(sender, receiver);
        every_name_of_a_batch!(sender, receiver);
    }
}

#[test]
fn an_exchange() {
    for (first, mut receiver) in [mpmc::unbounded(), mpmc::bounded(8)] {
        let sender = first.clone();
        drop(first);
        every_name_of_a_channel!(sender, receiver);
        let shared = &receiver.clone();
        drop(sender);
        assert_eq!((shared.iter().count(), receiver.into_iter().count()), (0, 0));
    }
}

/// The disconnect of a channel is permanent. What is not there now may be there later: those that do not wait are not
/// fused.
#[test]
fn iterators_that_wait_are_fused() {
    fn fused(iterator: impl FusedIterator<Item = u8>) -> usize {
        iterator.count()
    }
    let (_, mut pipe) = spsc::bounded(1);
    let (_, mut funnel) = mpsc::unbounded();
    let (_, exchange) = mpmc::bounded(1);
    assert_eq!((fused(pipe.iter()), fused(funnel.iter()), fused(exchange.iter())), (0, 0, 0));
    assert_eq!((fused(pipe.into_iter()), fused(funnel.into_iter()), fused(exchange.into_iter())), (0, 0, 0));
}

#[test]
fn a_oneshot() {
    let (mut sender, mut receiver): (oneshot::Sender<u8>, oneshot::Receiver<u8>) = oneshot::channel();
    assert!(!sender.is_disconnected() && !sender.wait_closed_timeout(Duration::ZERO));
    assert!(sender.poll_closed(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(sender.closed());
    assert_eq!((receiver.is_empty(), receiver.is_disconnected(), receiver.detach()), (true, false, false));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(receiver.recv_deadline(Instant::now()), Err(RecvTimeoutError::Timeout));
    let sent: Result<(), SendError<u8>> = sender.send(1);
    assert_eq!((sent, receiver.close(), receiver.peek()), (Ok(()), false, Some(&1)));
    assert_eq!(receiver.recv_timeout(LONG), Ok(1));
    let received: Result<u8, RecvError> = receiver.recv();
    assert_eq!(received, Err(RecvError));
    let (mut sender, receiver) = oneshot::channel::<u8>();
    drop(receiver);
    sender.wait_closed();
}

#[test]
fn errors_give_back_what_they_hold() {
    use std::error::Error;
    let full = TrySendError::Full("a");
    let gone = TrySendError::Disconnected("b");
    let shown: [&dyn Error; 5] =
        [&full, &gone, &SendError("c"), &RecvTimeoutError::Timeout, &RecvTimeoutError::Disconnected];
    assert!(shown.iter().all(|error| !error.to_string().is_empty()));
    assert_eq!([full.into_inner(), gone.into_inner(), SendError("c").into_inner()], ["a", "b", "c"]);
}

#[cfg(any(unix, windows))]
#[test]
fn signals() {
    use ysuite::signal::{Signal, Signals, Wait, YPollset, YSemaphore, YSocketpair};

    fn raised(signal: &(impl Signal + Clone + Send), wait: &mut impl Wait, id: usize) {
        assert!(id < signal.capacity());
        signal.clone().signal(id);
        let signals: Signals = wait.wait();
        assert_eq!(Iterator::collect::<Vec<usize>>(signals), [id]);
        assert_eq!((wait.check().count(), wait.wait_timeout(Duration::ZERO).count()), (0, 0));
    }
    let mut semaphore = YSemaphore::new();
    raised(&semaphore.signaler(), &mut semaphore, 0);
    let mut set = YPollset::new();
    raised(&set.signaler(), &mut set, 30);
    let mut many = YPollset::with_capacity(1_000);
    raised(&many.signaler(), &mut many, 999);
    let mut pair = YSocketpair::new().unwrap();
    raised(&pair.signaler(), &mut pair, 255);
    #[cfg(unix)]
    let _readable: std::os::fd::BorrowedFd<'_> = std::os::fd::AsFd::as_fd(&pair);
    #[cfg(windows)]
    let _signalled: std::os::windows::io::BorrowedHandle<'_> = std::os::windows::io::AsHandle::as_handle(&pair);

    let (mut sender, mut receiver) = spsc::unbounded();
    pair.attach(&mut receiver, 3).unwrap();
    sender.send(1).unwrap();
    assert_eq!(pair.check().collect::<Vec<_>>(), [3]);
}

#[test]
fn a_pool() {
    use ysuite::pool::{Message, Pool};

    let pool = Pool::new(&[(64, 2), (1_024, 1)]).unwrap();
    let mut message: Message = pool.try_take(60).unwrap();
    message[0] = 7;
    let sent = std::thread::spawn(move || message[0]);
    assert_eq!((sent.join().unwrap(), pool.take(1_000).len()), (7, 1_000));
}

#[test]
fn a_mailbox() {
    use ysuite::mailbox::{Address, Mailbox, spawn};

    let (mut done, mut urgent) = spsc::bounded(1);
    let address: Address = spawn(move |mailbox: &mut Mailbox| {
        let word = mailbox.receive::<&str>().unwrap();
        done.send(word).unwrap();
    });
    assert!(address.send_priority("at once").is_ok());
    assert_eq!(urgent.recv(), Ok("at once"));
    let _ = address.send(7u8);
}

#[cfg(all(feature = "hub", unix))]
#[test]
fn a_hub() {
    use ysuite::hub::{Handle, Hub};

    let mut hub = Hub::new().unwrap();
    let handle: Handle = hub.handle().clone();
    std::thread::spawn(move || handle.post(|hub: &mut Hub| hub.stop()).unwrap()).join().unwrap();
    hub.run().unwrap();
}

/// The file that the panic of `refused` names.
#[cfg(panic = "unwind")]
fn file_of_the_panic(refused: impl FnOnce()) -> Option<String> {
    use std::cell::RefCell;
    use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
    use std::sync::Once;

    thread_local! {
        static FILE: RefCell<Option<String>> = const { RefCell::new(None) };
    }
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            FILE.set(info.location().map(|location| location.file().to_owned()));
            before(info);
        }));
    });
    FILE.set(None);
    assert!(catch_unwind(AssertUnwindSafe(refused)).is_err(), "nothing was refused");
    FILE.take()
}

/// Claim: A channel that cannot be made names the line of the program that wanted it.
#[test]
#[cfg(panic = "unwind")]
fn what_is_refused_names_the_callers_line() {
    let refused: [(&str, fn()); 6] = [
        ("mpmc::bounded", || drop(mpmc::bounded::<u64>(usize::MAX))),
        ("broadcast::bounded, 0", || drop(ysuite::broadcast::bounded::<u64>(0))),
        ("broadcast::bounded", || drop(ysuite::broadcast::bounded::<u64>(usize::MAX))),
        ("broadcast::lossy", || drop(ysuite::broadcast::lossy::<u64>(usize::MAX / 2))),
        ("mpsc::bounded_for, 0", || drop(mpsc::bounded_for::<u64>(0, 1))),
        ("mpsc::bounded_for", || drop(mpsc::bounded_for::<u64>(1, usize::MAX))),
    ];
    for (name, refused) in refused {
        assert_eq!(file_of_the_panic(refused).as_deref(), Some(file!()), "{name}");
    }
}
