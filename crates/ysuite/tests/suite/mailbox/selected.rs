//! A receive of a mailbox as a case of a select.

use std::thread;
use std::time::{Duration, Instant};

use ysuite::mailbox::{Builder, Crowding, Mailbox, ReceiveError};
use ysuite::signal::{Wait, YPollset};
use ysuite::{mpmc, select, spsc, timer};

use crate::support::guarded;

const SHORT: Duration = Duration::from_micros(200);

fn mailboxes() -> [Mailbox; 2] {
    [Mailbox::new(), Builder::new().bounded(4, Crowding::Error).build()]
}

/// Claim: A select receives from a mailbox beside channels and timers, and passes over messages of other types.
#[test]
fn a_mailbox_is_a_case_beside_a_channel_and_a_timer() {
    guarded(|| {
        for mut mailbox in mailboxes() {
            let address = mailbox.address();
            let (mut sender, mut receiver) = spsc::unbounded::<u8>();
            let mut first = |mailbox: &mut Mailbox, limit: &timer::Timer| {
                select()
                    .recv(mailbox.receiving::<u32>(), |number| format!("mail {}", number.unwrap()))
                    .recv(&mut receiver, |number| format!("channel {}", number.unwrap()))
                    .recv(limit, |_| "late".to_owned())
                    .biased()
                    .wait()
            };
            assert_eq!(first(&mut mailbox, &timer::after(SHORT)), "late");
            address.send("of another type").unwrap();
            assert_eq!(first(&mut mailbox, &timer::after(SHORT)), "late");
            assert_eq!(mailbox.set_aside(), 1);
            address.send(1_u32).unwrap();
            sender.send(2).unwrap();
            assert_eq!(first(&mut mailbox, &timer::never()), "mail 1");
            assert_eq!(first(&mut mailbox, &timer::never()), "channel 2");
            // It sleeps until one is there, also behind a message of another type, and an urgent one.
            for is_urgent in [false, true] {
                let address = address.clone();
                let sending = thread::spawn(move || {
                    thread::sleep(SHORT);
                    address.send('x').unwrap();
                    thread::sleep(SHORT);
                    if is_urgent { address.send_priority(3_u32) } else { address.send(3_u32) }.unwrap();
                });
                assert_eq!(first(&mut mailbox, &timer::never()), "mail 3");
                sending.join().unwrap();
            }
            assert_eq!((mailbox.receive(), mailbox.receive()), (Ok("of another type"), Ok('x')));
        }
    });
}

#[test]
fn a_receive_until_a_moment_takes_what_is_there_and_waits_no_longer() {
    for mut mailbox in mailboxes() {
        let address = mailbox.address();
        let soon = || Instant::now() + SHORT;
        assert_eq!(mailbox.receive_deadline::<u8>(soon()), Err(ReceiveError::Timeout));
        address.send('x').unwrap();
        address.send(1_u8).unwrap();
        assert_eq!(mailbox.receive_deadline(Instant::now()), Ok(1_u8));
        assert_eq!(mailbox.receive_deadline(Instant::now()), Ok('x'));
        assert_eq!(mailbox.receive_deadline::<u8>(Instant::now()), Err(ReceiveError::Timeout));
        drop(address);
        assert_eq!(mailbox.receive_deadline::<u8>(soon()), Err(ReceiveError::Disconnected));
    }
}

#[test]
fn a_select_reports_the_end_of_every_address_and_of_a_link() {
    guarded(|| {
        let mut mailbox = Mailbox::new();
        let never = timer::never();
        let wait = |mailbox: &mut Mailbox| {
            select().recv(mailbox.receiving::<u8>(), |number| number).recv(&never, |_| Ok(0)).wait()
        };
        let linked = mailbox.spawn_linked(|mailbox| drop(mailbox.receive::<char>()));
        let ending = thread::spawn(move || {
            thread::sleep(SHORT);
            linked.send('x').unwrap();
        });
        assert!(matches!(wait(&mut mailbox), Err(ReceiveError::LinkTerminated(_))));
        ending.join().unwrap();
        let address = mailbox.address();
        let leaving = thread::spawn(move || {
            thread::sleep(SHORT);
            drop(address);
        });
        assert_eq!(wait(&mut mailbox), Err(ReceiveError::Disconnected));
        leaving.join().unwrap();
    });
}

/// What a select has not performed has changed nothing; one that is dropped before it waits neither.
#[test]
fn a_select_that_is_dropped_or_takes_another_case_receives_nothing() {
    for mut mailbox in mailboxes() {
        let address = mailbox.address();
        let (sender, receiver) = mpmc::unbounded();
        sender.send(1).unwrap();
        address.send(2_u8).unwrap();
        drop(select().recv(mailbox.receiving::<u8>(), |_| ()));
        let first = select().recv(&receiver, |number| number.unwrap()).recv(mailbox.receiving(), |mail| mail.unwrap());
        assert_eq!(first.biased().wait(), 1_u8);
        assert!(select().recv(mailbox.receiving::<char>(), |_| ()).wait_timeout(SHORT).is_none());
        // Nothing is registered any more, and a receive waits as ever.
        let sending = thread::spawn(move || {
            thread::sleep(SHORT);
            address.send('x').unwrap();
        });
        assert_eq!((mailbox.receive(), mailbox.receive()), (Ok('x'), Ok(2_u8)));
        sending.join().unwrap();
    }
}

#[test]
fn a_mailbox_in_a_set_is_a_case_and_stays_in_its_set() {
    guarded(|| {
        for mut mailbox in mailboxes() {
            let (address, mut set) = (mailbox.address(), YPollset::new());
            set.attach(&mut mailbox, 5).unwrap();
            assert!(select().recv(mailbox.receiving::<u8>(), |_| ()).wait_timeout(SHORT).is_none());
            set.check().for_each(drop);
            assert!(select().recv(mailbox.receiving::<u8>(), |_| ()).try_now().is_none());
            address.send(1_u8).unwrap();
            assert!(set.check().any(|id| id == 5));
            assert_eq!(select().recv(mailbox.receiving::<u8>(), |number| number).wait(), Ok(1));
        }
    });
}

/// Several threads send while the mailbox receives by selects from it and from a channel.
#[test]
fn a_crowd_of_senders_loses_nothing() {
    const EACH: u32 = if cfg!(miri) { 30 } else { 3_000 };
    guarded(|| {
        for mut mailbox in [Mailbox::new(), Builder::new().bounded(4, Crowding::Block).build()] {
            let ((sender, receiver), _address) = (mpmc::bounded(2), mailbox.address());
            let threads: Vec<_> = (0..3)
                .map(|by| {
                    let (address, sender) = (mailbox.address(), sender.clone());
                    thread::spawn(move || {
                        for number in 0..EACH {
                            match by {
                                0 => address.send(number).unwrap(),
                                1 => address.send_priority(number).unwrap(),
                                _ => sender.send(number).unwrap(),
                            }
                        }
                    })
                })
                .collect();
            let mut sum = 0_u64;
            for _ in 0..3 * EACH {
                let first = select().recv(mailbox.receiving::<u32>(), |number| number.unwrap());
                sum += u64::from(first.recv(&receiver, |number| number.unwrap()).wait());
            }
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(sum, 3 * u64::from(EACH) * u64::from(EACH - 1) / 2);
        }
    });
}
