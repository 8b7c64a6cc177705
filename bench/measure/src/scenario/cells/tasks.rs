//! Streams between tasks of tokio, one by one: from one task to another or from several to one, in a runtime of one thread or
//! of two.
//!
//! ```text
//!   one worker     pour().await, drain().await in turn on the first CPU
//!   two workers    pour().await ... drain().await: any of them on either CPU, as the runtime decides
//! ```
//!
//! Every message is checked as between threads. Where there is no bound a sending task yields after the number of
//! messages that a bounded one has room for. Otherwise one worker would send all of them first, which is a burst and no
//! stream.
//!
//! The clock runs from the first send of all to the last receipt.

use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rustix::thread::{Pid, gettid};
use tokio::runtime;
use tokio::task::{JoinHandle, yield_now};

use super::super::many::{ROW, Seen, complete};
use super::super::{END, carried, check, check_end};
use crate::error::Fault;
use crate::frame::Frame;
use crate::limits::{self, Probe};
use crate::place::Place;
use crate::record::Parameter;
use crate::stage::{Part, Timed, ensemble, put_ids_to_sleep};
use crate::transport::tasks::{PLACES, Received, Sent, TaskReceiver, TaskSender, TaskTransport};
use crate::transport::{Message, Shape, Traits, Waits};

type Task<A> = Pin<Box<dyn Future<Output = A> + Send>>;

/// The tasks of a stream. Only this much is compiled for each transport and message. One call through a pointer is made
/// each time a task continues.
pub(super) struct Tasks {
    /// Each returns its start.
    pours: Vec<Task<Instant>>,
    /// Returns the time of the last message.
    drain: Task<Result<Instant, Fault>>,
}

/// Opens streams from a number of tasks, each with a number of messages.
pub(super) type Open = fn(usize, usize) -> Result<Tasks, Fault>;

/// Whether it is made for tasks.
pub(super) fn able(traits: &Traits) -> bool {
    traits.waits == Waits::Suspends
}

/// One worker cannot do more than a thread that is both sender and receiver of a ypipe.
pub(super) fn limit(frame: &Frame, parameter: Option<Parameter>, workers: usize) -> &'static Probe {
    if workers == 1 { &limits::ONE_THREAD } else { carried::limit(frame, parameter) }
}

pub(super) fn open<T: TaskTransport, M: Message>(senders: usize, each: usize) -> Result<Tasks, Fault> {
    let (mut ends, receiver) = T::open::<M>(senders)?;
    let mut pours: Vec<Task<Instant>> = Vec::with_capacity(ends.len());
    while let Some(sender) = ends.pop() {
        let first = ends.len() << ROW;
        pours.push(if T::TRAITS.bounded {
            Box::pin(pour::<M, false>(sender, first, each))
        } else {
            Box::pin(pour::<M, true>(sender, first, each))
        });
    }
    let drain: Task<_> = if senders == 1 {
        Box::pin(drain::<M>(receiver, each))
    } else {
        Box::pin(drain_rows::<M>(receiver, Shape::new(senders, 1), each))
    };
    Ok(Tasks { pours, drain })
}

async fn pour<M: Message, const MAKES_WAY: bool>(
    mut sender: impl TaskSender<M>,
    first: usize,
    messages: usize,
) -> Instant {
    let start = Instant::now();
    for message in first..first + messages {
        if !sender.send(M::numbered(message)).await.is_sent() {
            return start;
        }
        if MAKES_WAY && message % PLACES == PLACES - 1 {
            yield_now().await;
        }
    }
    let _ = sender.send(M::numbered(END)).await;
    start
}

/// All of one sender's.
pub(crate) async fn drain<M: Message>(mut receiver: impl TaskReceiver<M>, messages: usize) -> Result<Instant, Fault> {
    for expected in 0..messages {
        check(receiver.recv().await.message(), expected)?;
    }
    let end = Instant::now();
    check_end(receiver.recv().await.message())?;
    Ok(end)
}

async fn drain_rows<M: Message>(
    mut receiver: impl TaskReceiver<M>,
    shape: Shape,
    each: usize,
) -> Result<Instant, Fault> {
    let mut seen = Seen::new(shape);
    while !seen.is_over() {
        seen.take(receiver.recv().await.message())?;
    }
    let end = Instant::now();
    complete([seen].into_iter(), shape, each)?;
    Ok(end)
}

/// Streams `messages`, rounded up to the same number for each sender, in a runtime of `workers` workers.
///
/// A runtime that is given up is never dropped. Its workers are stopped with the thread that waits for them.
pub(super) fn play(place: Place, workers: usize, senders: usize, messages: u64, open: Open) -> Result<Timed, Fault> {
    let each = messages.div_ceil(senders as u64);
    let tasks = open(senders, each as usize)?;
    // `None`: the run has been given up, and a worker that starts after that stops at once.
    let ids = Arc::new(Mutex::new(Some(Vec::<Pid>::new())));
    let started = ids.clone();
    let cpus = if workers == 1 { vec![place.first] } else { place.cpus() };
    let part = Part::new(&cpus, move |gate| {
        gate.pass();
        let starts = move || {
            let noted = started.lock().unwrap_or_else(PoisonError::into_inner).as_mut().map(|ids| ids.push(gettid()));
            if noted.is_none() {
                put_ids_to_sleep([gettid()]);
            }
        };
        run(workers, tasks, starts)
    });
    let asleep = |_: &Fault| {
        let ids = ids.lock().unwrap_or_else(PoisonError::into_inner).take();
        put_ids_to_sleep(ids.into_iter().flatten());
    };
    let spans = ensemble(messages, vec![part]).inspect_err(asleep)?.into_iter().collect::<Result<Vec<_>, Fault>>()?;
    let (start, end) = spans[0];
    Ok(Timed::between(start, end, each * senders as u64))
}

/// From the first send to the last receipt. Workers are started here, so they are pinned to the CPUs of this thread.
fn run(workers: usize, tasks: Tasks, on_start: impl Fn() + Send + Sync + 'static) -> Result<(Instant, Instant), Fault> {
    let mut builder = match workers {
        1 => runtime::Builder::new_current_thread(),
        _ => runtime::Builder::new_multi_thread(),
    };
    let runtime = builder.worker_threads(workers).on_thread_start(on_start).build()?;
    runtime.block_on(async {
        let pours: Vec<_> = tasks.pours.into_iter().map(tokio::spawn).collect();
        let drain = tokio::spawn(tasks.drain);
        let mut start = None;
        for pour in pours {
            let began = ended(pour).await;
            start = Some(start.map_or(began, |start: Instant| start.min(began)));
        }
        let end = ended(drain).await?;
        Ok((start.unwrap_or(end), end))
    })
}

/// The result of a task. Its panic continues here.
async fn ended<A>(task: JoinHandle<A>) -> A {
    task.await.unwrap_or_else(|error| match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(cancelled) => unreachable!("a task is never cancelled: {cancelled}"),
    })
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::hint::spin_loop;
    use std::io;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::mpsc;
    use std::time::Duration;

    use super::super::super::tests::{
        FAULTLESS, Faulty, FaultySender, GOES_AWAY, LOSES, LOSES_THE_LAST, MESSAGES, REORDERS, REPEATS,
        REPEATS_THE_LAST, place,
    };
    use super::*;
    use crate::stage::{Patience, with_patience};
    use crate::transport::tasks::Opened;
    use crate::transport::{Closed, Sender, Transport};

    impl<const HOW: usize> TaskTransport for Faulty<HOW> {
        const TRAITS: Traits = <Self as Transport>::TRAITS;
        type Sender<M: Message> = FaultySender<M, HOW>;
        type Receiver<M: Message> = mpsc::Receiver<M>;

        fn open<M: Message>(_: usize) -> io::Result<Opened<Self, M>> {
            let (sender, receiver) = <Self as Transport>::open()?;
            Ok((vec![sender], receiver))
        }
    }

    impl<M: Message, const HOW: usize> TaskSender<M> for FaultySender<M, HOW> {
        fn send(&mut self, message: M) -> impl Future<Output: Sent> + Send {
            ready(Sender::send(self, message))
        }
    }

    /// Blocks its worker: a message sent without a wait is there before, or another worker sends it.
    impl<M: Message> TaskReceiver<M> for mpsc::Receiver<M> {
        fn recv(&mut self) -> impl Future<Output: Received<M>> + Send {
            ready(mpsc::Receiver::recv(self))
        }
    }

    fn faulty<const HOW: usize>(workers: usize) -> Option<Fault> {
        play(place(), workers, 1, MESSAGES as u64, open::<Faulty<HOW>, usize>).err()
    }

    #[test]
    fn whatever_a_transport_can_do_wrong_is_noticed() {
        for workers in [1, 2] {
            assert!(faulty::<FAULTLESS>(workers).is_none());
            assert!(matches!(faulty::<REORDERS>(workers), Some(Fault::OutOfOrder { expected: 50, received: 51 })));
            assert!(matches!(faulty::<LOSES>(workers), Some(Fault::OutOfOrder { expected: 50, received: 51 })));
            assert!(matches!(faulty::<LOSES_THE_LAST>(workers), Some(Fault::Lost { expected: 99 })));
            assert!(matches!(faulty::<REPEATS>(workers), Some(Fault::OutOfOrder { expected: 51, received: 50 })));
            assert!(matches!(faulty::<REPEATS_THE_LAST>(workers), Some(Fault::TooMany { received: 99 })));
            assert!(matches!(faulty::<GOES_AWAY>(workers), Some(Fault::Disconnected { expected: 50 })));
        }
    }

    static STEPS: AtomicU64 = AtomicU64::new(0);

    /// Its receiver never gets anything: it waits permanently, or polls permanently and keeps its worker.
    struct Stuck<const SPINS: bool>;

    impl<const SPINS: bool> TaskTransport for Stuck<SPINS> {
        const TRAITS: Traits = crate::transport::tasks::COMMON;
        type Sender<M: Message> = Self;
        type Receiver<M: Message> = Self;

        fn open<M: Message>(senders: usize) -> io::Result<Opened<Self, M>> {
            Ok(((0..senders).map(|_| Self).collect(), Self))
        }
    }

    impl<M: Message, const SPINS: bool> TaskSender<M> for Stuck<SPINS> {
        fn send(&mut self, _: M) -> impl Future<Output: Sent> + Send {
            ready(Ok::<(), Closed>(()))
        }
    }

    impl<M: Message, const SPINS: bool> TaskReceiver<M> for Stuck<SPINS> {
        fn recv(&mut self) -> impl Future<Output: Received<M>> + Send {
            loop {
                if !SPINS {
                    return pending::<Option<M>>();
                }
                // ORDERING: Relaxed: a number with no other data.
                STEPS.fetch_add(1, Ordering::Relaxed);
                spin_loop();
            }
        }
    }

    #[test]
    fn tasks_that_are_stuck_are_given_up_and_take_no_more_time() {
        const SHORT: Patience = Patience { base: Duration::from_millis(50), each: Duration::ZERO };
        for workers in [1, 2] {
            for open in [open::<Stuck<false>, usize>, open::<Stuck<true>, usize>] {
                let stuck = with_patience(SHORT, || play(place(), workers, 2, 10, open));
                assert!(matches!(stuck, Err(Fault::Stuck { .. })), "{stuck:?}");
            }
            assert!(crate::stage::comes_to_rest(&STEPS));
        }
        assert!(STEPS.load(Ordering::Relaxed) > 0);
    }

    #[test]
    fn a_task_that_panics_says_so() {
        fn open(_: usize, _: usize) -> Result<Tasks, Fault> {
            let drain: Task<_> = Box::pin(async { panic!("on purpose") });
            Ok(Tasks { pours: Vec::new(), drain })
        }
        let panic = std::panic::catch_unwind(|| play(place(), 2, 1, 1, open)).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
    }
}
