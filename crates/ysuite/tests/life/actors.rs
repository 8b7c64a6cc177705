//! Actors that start and stop, threads that send to one that stays, names, owners and links.

use std::thread;
use std::time::Duration;

use crate::life::{Steps, live};
use ysuite::mailbox::{self, Address, Builder, Crowding, Envelope, LinkTerminated, Mailbox, OwnerTerminated};
use ysuite::receive;
use ysuite::signal::{Wait, YPollset};

struct Stop;

/// What this thread's lanes to mailboxes that have ended may take, until a sweep: 64, or twice as many, of 2 KiB each.
const LANES: u64 = 128 * (2 << 10);

#[test]
fn a_mailbox_for_each_conversation() {
    live("actors::a_mailbox_for_each_conversation", Steps::Few, |life| {
        let mut stays = Mailbox::new();
        let own = stays.address();
        let mut set = YPollset::new();
        life.may_keep(LANES);
        while life.step() {
            let number = life.number();
            let mut mailbox = match number % 5 {
                0 => Mailbox::new(),
                1 => Mailbox::default(),
                2 => Builder::new().bounded(2, Crowding::DropOldest).build(),
                3 => Builder::default().name(format!("actor {number}")).build(),
                _ => Builder::new().clone().bounded(2, Crowding::Error).build(),
            };
            let address: Address = mailbox.address().clone();
            address.send(number).unwrap();
            address.send_priority("first").unwrap();
            let envelope = Envelope::new(own.clone());
            // A bound of two: the oldest is dropped, or the third is refused.
            let _ = address.send_envelope(envelope);
            let _ = address.send([number; 10]);
            assert_eq!(mailbox.receive::<&str>(), Ok("first"));
            let _ = mailbox.receive_timeout::<u64>(Duration::ZERO);
            let _ = mailbox.receive_timeout::<Address>(Duration::ZERO).map(|address| address.send(number).unwrap());
            let _ = stays.receive_timeout::<u64>(Duration::ZERO);
            set.attach(&mut mailbox, 0).unwrap();
            if number % 2 == 0 {
                assert!(mailbox.detach());
            }
            // Both ways. One end is waited for, the other never happens.
            stays.link(&address);
            mailbox.link(&own);
            if number % 3 == 0 {
                stays.unlink(&address);
                mailbox.unlink(&own);
            }
            drop(mailbox);
            set.check().for_each(drop);
            assert_eq!(stays.receive_timeout::<LinkTerminated>(Duration::ZERO).is_ok(), number % 3 != 0);
            assert!(address.send(number).is_err());
            assert_eq!(stays.set_aside(), 0);
        }
    });
}

#[test]
fn names_that_are_given_and_taken() {
    live("actors::names_that_are_given_and_taken", Steps::Calls, |life| {
        let mut stays = Mailbox::new();
        let address = stays.address();
        while life.step() {
            let name = format!("worker {}", life.number());
            mailbox::register(&name, &address).unwrap();
            mailbox::locate(&name).unwrap().send(life.number()).unwrap();
            assert_eq!(stays.receive::<u64>(), Ok(life.number()));
            // A name goes with its mailbox, or is taken.
            let gone = Mailbox::new();
            let other = format!("other worker {}", life.number());
            mailbox::register(&other, &gone.address()).unwrap();
            drop(gone);
            assert!(mailbox::locate(&other).is_none());
            assert_eq!(mailbox::unregister(&name), Some(address.clone()));
        }
    });
}

#[test]
fn actors_that_start_and_stop() {
    live("actors::actors_that_start_and_stop", Steps::Threads, |life| {
        let mut stays = Mailbox::new();
        let back = stays.address();
        life.may_keep(LANES);
        while life.step() {
            let number = life.number();
            let own = back.clone();
            let actor = move |mailbox: &mut Mailbox| {
                loop {
                    let goes_on = receive!(mailbox => {
                        number: u64 => {
                            own.send(number).unwrap();
                            true
                        },
                        _end: Stop => false,
                        _owner: OwnerTerminated => false,
                    });
                    if !goes_on.unwrap() {
                        break;
                    }
                }
            };
            let (address, handle) = match number % 7 {
                0 => (mailbox::spawn(actor), None),
                1 => (stays.spawn(actor), None),
                2 => (stays.spawn_linked(actor), None),
                3 => {
                    let (address, handle) = Builder::new().stack_size(256 << 10).spawn(actor).unwrap();
                    (address, Some(handle))
                }
                4 => {
                    let builder = Builder::new().name("owned").bounded(4, Crowding::Block);
                    let (address, handle) = builder.spawn_owned(&mut stays, actor).unwrap();
                    (address, Some(handle))
                }
                5 => {
                    let (address, handle) = Builder::new().spawn_linked(&mut stays, actor).unwrap();
                    (address, Some(handle))
                }
                // One that owns it and ends first.
                _ => {
                    let mut owner = Mailbox::new();
                    let (address, handle) = Builder::new().spawn_owned(&mut owner, actor).unwrap();
                    address.send(number).unwrap();
                    assert_eq!(stays.receive::<u64>(), Ok(number));
                    drop(owner);
                    handle.join().unwrap();
                    life.wait_for_threads();
                    continue;
                }
            };
            address.send(number).unwrap();
            assert_eq!(stays.receive::<u64>(), Ok(number));
            if number % 2 == 0 {
                address.send_priority(Stop).unwrap();
            } else {
                address.send(Stop).unwrap();
            }
            if matches!(number % 7, 2 | 5) {
                assert_eq!(stays.receive::<LinkTerminated>().unwrap().address(), &address);
            }
            if let Some(handle) = handle {
                handle.join().unwrap();
            }
            life.wait_for_threads();
        }
    });
}

#[test]
fn short_lived_threads_that_send_to_an_actor() {
    live("actors::short_lived_threads_that_send_to_an_actor", Steps::Threads, |life| {
        let mut actor = Mailbox::new();
        let mut bounded = Builder::new().bounded(4, Crowding::Block).build();
        let (address, other) = (actor.address(), bounded.address());
        while life.step() {
            let (address, other, number) = (address.clone(), other.clone(), life.number());
            let thread = thread::spawn(move || {
                address.send(number).unwrap();
                address.send_priority(number).unwrap();
                other.send(number).unwrap();
            });
            thread.join().unwrap();
            assert_eq!((actor.receive(), actor.receive(), bounded.receive()), (Ok(number), Ok(number), Ok(number)));
        }
    });
}

/// As above, but the actor always has some messages more.
#[test]
fn an_actor_that_lags() {
    live("actors::an_actor_that_lags", Steps::Threads, |life| {
        let mut actor = Mailbox::new();
        let address = actor.address();
        (0..5_u64).for_each(|number| address.send(number).unwrap());
        let mut others = None;
        while life.step() {
            let (own, number) = (address.clone(), life.number());
            thread::spawn(move || own.send(number).unwrap()).join().unwrap();
            if others.is_none() {
                address.send("stays").unwrap();
                others = Some(0_u64);
            }
            // One for each that has come, and the one of the thread that stays.
            loop {
                let stayed = receive!(actor => { _number: u64 => false, _stays: &'static str => true });
                if !stayed.unwrap() {
                    break;
                }
                others = None;
            }
            if let Some(others) = &mut others {
                *others += 1;
                assert!(
                    *others <= 2 * 7 * ysuite::mpsc::TURN as u64,
                    "the thread that stays is starved, step {number}"
                );
            }
        }
    });
}
