//! A broadcast to four, question and answer, and loans of 1 MiB, between processes: iceoryx2 and `ysuite-shm` in turns, so that
//! ratios can be taken. Nanoseconds for each message: the median of the rounds, and the ratio's quartiles.
//!
//! All poll, and yield between two looks where they are more than the processors: what is compared is not how they sleep.
//!
//! ```sh
//! cargo run --release --manifest-path bench/iceoryx2/Cargo.toml --example shapes -- [ROUNDS]
//! ```

use std::hint::spin_loop;
use std::time::{Duration, Instant};

use iceoryx2::port::update_connections::UpdateConnections;
use iceoryx2::prelude::*;
use ysuite_shm::{BroadcastReceiver, BroadcastSender, Caller, Funnel, LoanReceiver, LoanSender, Question};

type Service = ipc::Service;

const LARGE: usize = 1 << 20;
const READERS: usize = 4;

/// Ends with the program that has started it.
fn child(part: impl FnOnce()) -> libc::pid_t {
    // SAFETY: this program has one thread.
    let id = unsafe { libc::fork() };
    if id == 0 {
        // SAFETY: a call with plain numbers.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        part();
        // SAFETY: as any other exit; nothing of the parent's is dropped.
        unsafe { libc::_exit(0) };
    }
    assert!(id > 0);
    id
}

fn end_of(child: libc::pid_t) {
    let mut status = 0;
    // SAFETY: the call writes the status.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "a process has failed");
}

fn yielding<R>(mut look: impl FnMut() -> Option<R>) -> R {
    loop {
        if let Some(found) = look() {
            return found;
        }
        std::thread::yield_now();
    }
}

fn spinning<R>(mut look: impl FnMut() -> Option<R>) -> R {
    loop {
        if let Some(found) = look() {
            return found;
        }
        spin_loop();
    }
}

fn per(messages: u64, begin: Instant) -> f64 {
    begin.elapsed().as_nanos() as f64 / messages as f64
}

/// A name that no other round has.
fn name() -> String {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    // ORDERING: Relaxed; the number guards nothing.
    let next = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!("shapes-{}-{next}", std::process::id())
}

fn node() -> Node<Service> {
    set_log_level(LogLevel::Fatal);
    NodeBuilder::new().create::<Service>().expect("a node")
}

/// Until all messages have arrived everywhere.
mod broadcast {
    use super::*;

    const MESSAGES: u64 = 100_000;
    const CAPACITY: usize = 1_024;

    pub(super) fn ours() -> f64 {
        let mut sender = BroadcastSender::<u64>::without_name(CAPACITY).unwrap();
        let seats: Vec<_> = (0..READERS).map(|_| sender.seat().unwrap()).collect();
        let readers: Vec<_> = seats
            .iter()
            .map(|seat| {
                child(|| {
                    let mut receiver = BroadcastReceiver::<u64>::from_fd(seat.try_clone().unwrap()).unwrap();
                    (0..MESSAGES).for_each(|message| assert_eq!(yielding(|| receiver.try_recv().ok()), message));
                })
            })
            .collect();
        drop(seats);
        while sender.receivers() < READERS {
            sender.serve_timeout(Duration::from_millis(1));
        }
        let begin = Instant::now();
        (0..MESSAGES).for_each(|message| yielding(|| sender.try_send(message).ok()));
        readers.into_iter().for_each(end_of);
        per(MESSAGES, begin)
    }

    pub(super) fn theirs() -> f64 {
        let name = name();
        let open = |node: &Node<Service>| {
            let service = node.service_builder(&name.as_str().try_into().unwrap()).publish_subscribe::<u64>();
            let service =
                service.enable_safe_overflow(false).history_size(0).max_publishers(1).max_subscribers(READERS);
            service.subscriber_max_buffer_size(CAPACITY).open_or_create().unwrap()
        };
        let readers: Vec<_> = (0..READERS)
            .map(|_| {
                child(|| {
                    let node = node();
                    let subscriber = open(&node).subscriber_builder().create().unwrap();
                    (0..MESSAGES).for_each(|message| {
                        assert_eq!(yielding(|| subscriber.receive().unwrap().map(|sample| *sample)), message)
                    });
                })
            })
            .collect();
        let node = node();
        let service = open(&node);
        let publisher = service
            .publisher_builder()
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()
            .unwrap();
        while service.dynamic_config().number_of_subscribers() < READERS {
            std::thread::sleep(Duration::from_millis(1));
        }
        // They are counted before they can be connected to.
        std::thread::sleep(Duration::from_millis(50));
        publisher.update_connections().unwrap();
        let begin = Instant::now();
        (0..MESSAGES).for_each(|message| assert_eq!(publisher.send_copy(message).unwrap(), READERS));
        readers.into_iter().for_each(end_of);
        per(MESSAGES, begin)
    }
}

/// One question at a time.
mod call {
    use super::*;

    const CALLS: u64 = 50_000;

    pub(super) fn ours() -> f64 {
        let mut funnel = Funnel::<Question<u64, u64>>::without_name().unwrap();
        let (_, seat) = funnel.seat().unwrap();
        let asking = child(|| {
            let mut caller = Caller::<u64, u64>::from_fd(seat.try_clone().unwrap()).unwrap();
            caller.set_spin(u32::MAX);
            (0..CALLS).for_each(|question| assert_eq!(caller.call(question), Ok(question + 1)));
        });
        drop(seat);
        let mut begin = None;
        for _ in 0..CALLS {
            let question = spinning(|| funnel.try_recv().ok());
            begin.get_or_insert_with(Instant::now);
            let answer = *question + 1;
            question.answer(answer);
        }
        let taken = per(CALLS, begin.unwrap());
        end_of(asking);
        taken
    }

    pub(super) fn theirs() -> f64 {
        let name = name();
        let open = |node: &Node<Service>| {
            let service = node.service_builder(&name.as_str().try_into().unwrap()).request_response::<u64, u64>();
            service.open_or_create().unwrap()
        };
        let asking = child(|| {
            let node = node();
            let service = open(&node);
            let client = service.client_builder().create().unwrap();
            while service.dynamic_config().number_of_servers() < 1 {
                std::thread::sleep(Duration::from_millis(1));
            }
            for question in 0..CALLS {
                let pending = client.send_copy(question).unwrap();
                let answer = spinning(|| pending.receive().unwrap().map(|response| *response));
                assert_eq!(answer, question + 1);
            }
        });
        let node = node();
        let server = open(&node).server_builder().create().unwrap();
        let mut begin = None;
        for _ in 0..CALLS {
            let request = spinning(|| server.receive().unwrap());
            begin.get_or_insert_with(Instant::now);
            let answer = *request + 1;
            request.send_copy(answer).unwrap();
        }
        let taken = per(CALLS, begin.unwrap());
        end_of(asking);
        taken
    }
}

/// Written whole by the sender, out of memory of its own, and read whole by the receiver, into memory of its own.
mod loan {
    use super::*;

    const LOANS: u64 = 400;
    const SLOTS: usize = 4;

    pub(super) fn ours() -> f64 {
        let mut sender = LoanSender::without_name(SLOTS, LARGE).unwrap();
        let seat = sender.seat().unwrap();
        let reading = child(|| {
            let mut receiver = LoanReceiver::from_fd(seat.try_clone().unwrap()).unwrap();
            let mut to = vec![0_u8; LARGE];
            for number in 0..LOANS {
                let borrowed = spinning(|| receiver.try_recv().ok());
                assert_eq!(borrowed.copy_to(0, &mut to), LARGE);
                assert_eq!(to[LARGE - 1], number as u8);
            }
        });
        drop(seat);
        while sender.receivers() < 1 {
            sender.serve_timeout(Duration::from_millis(1));
        }
        let mut from = vec![0_u8; LARGE];
        let begin = Instant::now();
        for number in 0..LOANS {
            from[LARGE - 1] = number as u8;
            let mut loan = loop {
                // A loan borrows its sender.
                if sender.free() > 0 {
                    break sender.try_loan(LARGE).unwrap();
                }
                spin_loop();
            };
            loan.write(0, from.as_slice());
            loan.send().unwrap();
        }
        end_of(reading);
        per(LOANS, begin)
    }

    pub(super) fn theirs() -> f64 {
        let name = name();
        let open = |node: &Node<Service>| {
            let service = node.service_builder(&name.as_str().try_into().unwrap()).publish_subscribe::<[u8]>();
            let service = service.enable_safe_overflow(false).history_size(0).max_publishers(1).max_subscribers(1);
            service.subscriber_max_buffer_size(SLOTS).open_or_create().unwrap()
        };
        let reading = child(|| {
            let node = node();
            let subscriber = open(&node).subscriber_builder().create().unwrap();
            let mut to = vec![0_u8; LARGE];
            for number in 0..LOANS {
                let sample = spinning(|| subscriber.receive().unwrap());
                to.copy_from_slice(sample.payload());
                assert_eq!(to[LARGE - 1], number as u8);
            }
        });
        let node = node();
        let service = open(&node);
        let publisher = service.publisher_builder().initial_max_slice_len(LARGE);
        let publisher = publisher.backpressure_strategy(BackpressureStrategy::RetryUntilDelivered).create().unwrap();
        while service.dynamic_config().number_of_subscribers() < 1 {
            std::thread::sleep(Duration::from_millis(1));
        }
        // They are counted before they can be connected to.
        std::thread::sleep(Duration::from_millis(50));
        publisher.update_connections().unwrap();
        let mut from = vec![0_u8; LARGE];
        let begin = Instant::now();
        for number in 0..LOANS {
            from[LARGE - 1] = number as u8;
            let sample = publisher.loan_slice_uninit(LARGE).unwrap();
            sample.write_from_slice(&from).send().unwrap();
        }
        end_of(reading);
        per(LOANS, begin)
    }
}

fn middle(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * part).round() as usize]
}

fn main() {
    let rounds: usize = std::env::args().nth(1).map_or(11, |rounds| rounds.parse().expect("a number of rounds"));
    let cells: [(&str, fn() -> f64, fn() -> f64); 3] = [
        ("broadcast of 8 bytes to four", broadcast::theirs, broadcast::ours),
        ("question and answer of 8 bytes", call::theirs, call::ours),
        ("loan of 1 MiB, written and read", loan::theirs, loan::ours),
    ];
    println!("{:<34} {:>12} {:>12} {:>7}  quartiles", "ns a message", "iceoryx2", "ysuite-shm", "ratio");
    for (name, theirs, ours) in cells {
        let (mut their, mut our, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..rounds {
            // In turns, so that neither is always behind the other.
            let (one, other) = if round % 2 == 0 {
                (theirs(), ours())
            } else {
                let first = ours();
                (theirs(), first)
            };
            their.push(one);
            our.push(other);
            ratios.push(one / other);
        }
        println!(
            "{name:<34} {:>12.1} {:>12.1} {:>7.2}  {:.2} to {:.2}",
            middle(&mut their, 0.5),
            middle(&mut our, 0.5),
            middle(&mut ratios, 0.5),
            middle(&mut ratios, 0.25),
            middle(&mut ratios, 0.75)
        );
    }
}
