//! Owners and links: which mailbox is notified of which end, when, and with which message.

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use ysuite::mailbox::{self, Address, Builder, LinkTerminated, Mailbox, OwnerTerminated, ReceiveError};
use ysuite::receive;

use crate::support::process::alone;
use crate::support::{Tally, guarded, panics};

struct Stop;

/// Ends on request.
fn obedient(mailbox: &mut Mailbox) {
    mailbox.receive::<Stop>().unwrap();
}

#[test]
fn the_end_of_a_link_comes_behind_its_last_message() {
    guarded(|| {
        for _ in 0..50 {
            let mut mailbox = Mailbox::new();
            let (back, _kept) = (mailbox.address(), mailbox.address());
            let linked = mailbox.spawn_linked(move |mailbox: &mut Mailbox| {
                assert!(mailbox.owner().is_some());
                (0..20).for_each(|number| back.send(number).unwrap());
            });
            (0..20).for_each(|number| assert_eq!(mailbox.receive_only(), Ok(number)));
            let end = mailbox.receive::<LinkTerminated>().unwrap();
            assert_eq!((end.address(), end.panic_message()), (&linked, None));
            assert_eq!(end.to_string(), format!("linked {linked} has ended"));
            assert!(linked.send(1).is_err(), "sending fails from then on");
            assert_eq!(mailbox.receive_timeout::<LinkTerminated>(Duration::ZERO), Err(ReceiveError::Timeout));
        }
    });
}

#[test]
fn a_mailbox_waits_for_a_child_that_can_still_reach_it() {
    guarded(|| {
        for linked in [false, true] {
            let mut mailbox = Mailbox::new();
            let (go, gone) = mpsc::channel::<()>();
            let answer = move |child: &mut Mailbox| {
                gone.recv().unwrap();
                child.owner().unwrap().send(42).unwrap();
            };
            let address = if linked { mailbox.spawn_linked(answer) } else { mailbox.spawn(answer) };
            drop(address);
            // Only the child has the address.
            assert_eq!(mailbox.receive_timeout::<i32>(Duration::ZERO), Err(ReceiveError::Timeout));
            go.send(()).unwrap();
            assert_eq!(mailbox.receive::<i32>(), Ok(42));
            if linked {
                assert!(mailbox.receive::<LinkTerminated>().is_ok());
            }
            (0..3).for_each(|_| assert_eq!(mailbox.receive::<i32>(), Err(ReceiveError::Disconnected)));
        }
    });
}

#[test]
fn nothing_comes_behind_disconnected() {
    guarded(|| {
        for round in 0..300_u32 {
            let mut mailbox = Mailbox::new();
            let children = 1 + round % 3;
            for child in 0..children {
                mailbox.spawn(move |mailbox: &mut Mailbox| {
                    (0..child * 100).for_each(|_| std::hint::spin_loop());
                    mailbox.owner().unwrap().send(child).unwrap();
                });
            }
            let received = std::iter::from_fn(|| mailbox.receive::<u32>().ok()).count();
            assert_eq!((received, mailbox.receive::<u32>()), (children as usize, Err(ReceiveError::Disconnected)));
        }
    });
}

#[test]
fn an_ended_owner_is_reported_though_no_other_is_left() {
    guarded(|| {
        let mut owner = Mailbox::new();
        let (_, thread) = Builder::new().spawn_owned(&mut owner, |mailbox| mailbox.receive::<u8>()).unwrap();
        drop(owner);
        assert!(matches!(thread.join().unwrap(), Err(ReceiveError::OwnerTerminated(_))));
    });
}

/// Panics when it is dropped, and is counted.
struct Bomb(Arc<AtomicUsize>);

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        panic!("a bomb");
    }
}

/// Claim: Messages that panic on drop at the termination of a mailbox cause one panic, and every watcher is notified.
#[test]
fn many_messages_that_panic_at_an_end_are_one_panic_and_no_loss() {
    guarded(|| {
        let ended = Arc::new(AtomicUsize::new(0));
        let mut watching: Vec<Mailbox> = (0..3).map(|_| Mailbox::new()).collect();
        let mut mailbox = Mailbox::new();
        let address = mailbox.address();
        watching.iter_mut().for_each(|watcher| watcher.link(&address));
        let send = |address: &Address| {
            (0..3).for_each(|_| address.send(Bomb(ended.clone())).unwrap());
            (0..3).for_each(|_| address.send_priority(Bomb(ended.clone())).unwrap());
        };
        send(&address);
        // Those are set aside; then there are new ones, in lanes of two threads.
        assert!(mailbox.receive_timeout::<u8>(Duration::ZERO).is_err());
        assert_eq!(mailbox.set_aside(), 6);
        send(&address);
        // Joined: a scope does not wait for the thread's lane, which would drop what the mailbox's end has not.
        thread::scope(|scope| scope.spawn(|| send(&address)).join().unwrap());
        assert_eq!(panics(|| drop(mailbox)), "a bomb");
        assert_eq!(ended.load(Ordering::Relaxed), 18);
        for watcher in &mut watching {
            assert!(watcher.receive_timeout::<LinkTerminated>(Duration::ZERO).is_ok());
        }
    });
}

/// The thread's lane may have to drop what the mailbox has not, where a panic would end the process.
#[test]
fn a_thread_that_ends_while_its_mailbox_does_survives_what_its_messages_do() {
    if !alone("mailbox::relations::a_thread_that_ends_while_its_mailbox_does_survives_what_its_messages_do") {
        return;
    }
    std::panic::set_hook(Box::new(|_| ()));
    guarded(|| {
        for round in 0..3_000_usize {
            let ended = Arc::new(AtomicUsize::new(0));
            let mailbox = Mailbox::new();
            let address = mailbox.address();
            let count = ended.clone();
            let thread = thread::spawn(move || drop(catch_unwind(|| drop(address.send(Bomb(count))))));
            (0..round % 300 * 20).for_each(|_| std::hint::spin_loop());
            drop(catch_unwind(AssertUnwindSafe(|| drop(mailbox))));
            thread.join().unwrap();
            assert_eq!(ended.load(Ordering::Relaxed), 1, "round {round}");
        }
    });
}

#[test]
fn an_unhandled_end_ends_the_receive() {
    guarded(|| {
        let mut mailbox = Mailbox::new();
        let address = mailbox.address();
        let linked = mailbox.spawn_linked(obedient);
        address.send(1_u8).unwrap();
        linked.send(Stop).unwrap();
        let Err(ReceiveError::LinkTerminated(end)) = mailbox.receive::<char>() else { panic!("it has ended") };
        assert_eq!(end.address(), &linked);
        // Once, and nothing was lost.
        assert_eq!(mailbox.receive_timeout::<char>(Duration::ZERO), Err(ReceiveError::Timeout));
        assert_eq!(mailbox.receive_only::<u8>(), Ok(1));
    });
}

#[test]
fn an_unhandled_end_is_the_source_of_the_error() {
    let (mut mailbox, linked) = (Mailbox::new(), Mailbox::new());
    let address = linked.address();
    mailbox.link(&address);
    drop(linked);
    let error = mailbox.receive_timeout::<u8>(Duration::ZERO).unwrap_err();
    let source = error.source().and_then(|source| source.downcast_ref::<LinkTerminated>());
    assert_eq!(source.map(LinkTerminated::address), Some(&address));
    let error = mailbox.receive_timeout::<u8>(Duration::ZERO).unwrap_err();
    assert!(error.source().is_none(), "{error:?}");
}

/// No system has a stack of that size.
#[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
#[test]
fn a_thread_that_the_system_refuses_is_an_error_and_the_end_of_its_mailbox() {
    let mut owner = Mailbox::new();
    assert!(Builder::new().stack_size(1 << 60).spawn_linked(&mut owner, |_| ()).is_err());
    assert!(owner.receive_timeout::<LinkTerminated>(Duration::ZERO).is_ok());
}

/// Claim: A link report carries the message of the panic.
#[test]
fn the_words_of_a_panic_are_passed_on() {
    guarded(|| {
        let mut mailbox = Mailbox::new();
        let plain = mailbox.spawn_linked(|_: &mut Mailbox| panic!("out of cheese"));
        let end = mailbox.receive::<LinkTerminated>().unwrap();
        assert_eq!((end.address(), end.panic_message()), (&plain, Some("out of cheese")));
        assert_eq!(end.to_string(), format!("linked {plain} has panicked: out of cheese"));
        mailbox.spawn_linked(|_: &mut Mailbox| panic!("error {}", 7));
        assert_eq!(mailbox.receive::<LinkTerminated>().unwrap().panic_message(), Some("error 7"));
        mailbox.spawn_linked(|_: &mut Mailbox| std::panic::panic_any(7));
        assert_eq!(mailbox.receive::<LinkTerminated>().unwrap().panic_message(), Some("(it has no text)"));
        let (address, thread) = Builder::new().spawn(|_| panic!("for the handle as well")).unwrap();
        assert_eq!(thread.join().map(|()| 0).unwrap_err().downcast_ref(), Some(&"for the handle as well"));
        // Linked to after its end.
        mailbox.link(&address);
        assert_eq!(mailbox.receive::<LinkTerminated>().unwrap().panic_message(), Some("for the handle as well"));
    });
}

#[test]
fn a_result_ends_behind_a_message_that_panics_at_its_mailboxes_end() {
    guarded(|| {
        let tally = Tally::of(2);
        tally.explode_all(0..2);
        let (message, result) = (tally.next(), tally.next());
        let run = move |mailbox: &mut Mailbox| {
            mailbox.address().send(message).unwrap();
            result
        };
        let (_, thread) = Builder::new().spawn(run).unwrap();
        let panic = thread.join().map(drop).unwrap_err();
        assert_eq!(panic.downcast_ref::<String>().map(String::as_str), Some("the end of message 0"));
        tally.assert_all_ended();
    });
}

#[test]
fn a_message_that_panics_at_an_end_leaves_the_words_of_the_panic_before() {
    guarded(|| {
        let (mut mailbox, ended) = (Mailbox::new(), Arc::new(AtomicUsize::new(0)));
        let bomb = Bomb(ended.clone());
        let linked = mailbox.spawn_linked(move |mailbox: &mut Mailbox| {
            mailbox.address().send(bomb).unwrap();
            panic!("out of cheese");
        });
        let end = mailbox.receive::<LinkTerminated>().unwrap();
        assert_eq!((end.address(), end.panic_message()), (&linked, Some("out of cheese")));
        assert_eq!(ended.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn a_mailbox_that_was_not_spawned_says_that_its_thread_panics() {
    guarded(|| {
        let mut watching = Mailbox::new();
        let mailbox = Mailbox::new();
        watching.link(&mailbox.address());
        let thread = thread::spawn(move || {
            let _mine = mailbox;
            panic!("in a thread of its own");
        });
        assert!(thread.join().is_err());
        let end = watching.receive::<LinkTerminated>().unwrap();
        assert_eq!(end.panic_message(), Some("(its text is not known)"));
    });
}

#[test]
fn an_owners_end_reaches_all_it_owns() {
    guarded(|| {
        let (tell, told) = mpsc::channel();
        let owner = mailbox::spawn(move |mailbox: &mut Mailbox| {
            let own = mailbox.address();
            for number in 0..3 {
                let (tell, own) = (tell.clone(), own.clone());
                mailbox.spawn(move |mailbox: &mut Mailbox| {
                    assert_eq!(mailbox.owner(), Some(own.clone()));
                    // Handled, not handled, asked for.
                    let end = match number {
                        0 => receive!(mailbox => { end: OwnerTerminated => end, _: u8 => unreachable!(), }).unwrap(),
                        1 => match mailbox.receive::<u8>() {
                            Err(ReceiveError::OwnerTerminated(end)) => end,
                            other => panic!("{other:?}"),
                        },
                        _ => receive!(mailbox => { other => other.downcast().unwrap(), }).unwrap(),
                    };
                    assert_eq!((end.address(), end.panic_message(), mailbox.owner()), (&own, Some("the owner"), None));
                    assert_eq!(end.to_string(), format!("owner {own} has panicked: the owner"));
                    tell.send(number).unwrap();
                });
            }
            drop(own);
            panic!("the owner");
        });
        let mut numbers: Vec<i32> = told.iter().collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2]);
        assert!(owner.send(1).is_err());
    });
}

#[test]
fn what_it_owns_is_told_of_it_as_owner_and_as_link() {
    guarded(|| {
        let (tell, told) = mpsc::channel();
        mailbox::spawn(move |mailbox: &mut Mailbox| {
            let own = mailbox.address();
            let (linked, is_linked) = mpsc::channel();
            mailbox.spawn(move |mailbox: &mut Mailbox| {
                mailbox.link(&own);
                linked.send(()).unwrap();
                tell.send([mailbox.receive::<u8>(), mailbox.receive::<u8>()]).unwrap();
            });
            is_linked.recv().unwrap();
        });
        let [first, second] = told.recv().unwrap();
        assert!(matches!(first, Err(ReceiveError::OwnerTerminated(_))), "{first:?}");
        assert!(matches!(second, Err(ReceiveError::LinkTerminated(_))), "{second:?}");
    });
}

#[test]
fn the_end_of_a_link_leaves_the_owner() {
    guarded(|| {
        let (mut owner, linked) = (Mailbox::new(), Mailbox::new());
        let (own, to) = (owner.address(), linked.address());
        let (_, thread) = Builder::new()
            .spawn_owned(&mut owner, move |mailbox| {
                mailbox.link(&to);
                drop(linked);
                let end = mailbox.receive::<LinkTerminated>().unwrap();
                (*end.address() == to, mailbox.owner())
            })
            .unwrap();
        assert_eq!(thread.join().unwrap(), (true, Some(own)));
    });
}

#[test]
fn a_link_to_an_owner_that_has_ended_is_told_of_before_what_is_on_its_way() {
    guarded(|| {
        let ((tell, told), (go, gone)) = (mpsc::channel(), mpsc::channel::<()>());
        let (_, owner) = Builder::new()
            .spawn(move |mailbox: &mut Mailbox| {
                let own = mailbox.address();
                mailbox.spawn(move |mailbox: &mut Mailbox| {
                    gone.recv().unwrap();
                    mailbox.link(&own);
                    tell.send([mailbox.receive::<u8>(), mailbox.receive::<u8>()]).unwrap();
                });
            })
            .unwrap();
        owner.join().unwrap();
        go.send(()).unwrap();
        let [first, second] = told.recv().unwrap();
        assert!(matches!(first, Err(ReceiveError::LinkTerminated(_))), "{first:?}");
        assert!(matches!(second, Err(ReceiveError::OwnerTerminated(_))), "{second:?}");
    });
}

#[test]
fn links_in_a_circle_end_one_after_the_other() {
    guarded(|| {
        const MANY: usize = 8;
        let mut watching = Mailbox::new();
        let all: Vec<Address> = (0..MANY)
            .map(|_| {
                watching.spawn_linked(|mailbox: &mut Mailbox| {
                    let next = mailbox.receive::<Address>().unwrap();
                    mailbox.link(&next);
                    mailbox.link(&mailbox.address());
                    mailbox.address().send_priority("to itself").unwrap();
                    assert_eq!(mailbox.receive(), Ok("to itself"));
                    receive!(mailbox => { _: LinkTerminated => (), _: Stop => (), }).unwrap();
                })
            })
            .collect();
        for (at, address) in all.iter().enumerate() {
            address.send(all[(at + 1) % MANY].clone()).unwrap();
        }
        all[3].send(Stop).unwrap();
        for _ in 0..MANY {
            assert_eq!(watching.receive::<LinkTerminated>().unwrap().panic_message(), None);
        }
    });
}

#[test]
fn a_link_is_told_once_and_can_be_taken_back() {
    guarded(|| {
        let mut mailbox = Mailbox::new();
        let _address = mailbox.address();
        let (one, two, three) = (mailbox.spawn(obedient), mailbox.spawn(obedient), Mailbox::new());
        (0..3).for_each(|_| mailbox.link(&one));
        mailbox.link(&two);
        mailbox.unlink(&two);
        mailbox.unlink(&three.address());
        two.send(Stop).unwrap();
        one.send(Stop).unwrap();
        assert_eq!(mailbox.receive::<LinkTerminated>().unwrap().address(), &one);
        // A link to one that has ended is notified at once, however often.
        mailbox.link(&one);
        mailbox.link(&one);
        assert_eq!(mailbox.set_aside(), 2);
        (0..2).for_each(|_| assert_eq!(mailbox.receive::<LinkTerminated>().unwrap().address(), &one));
        assert_eq!(mailbox.receive_timeout::<LinkTerminated>(Duration::ZERO), Err(ReceiveError::Timeout));
    });
}

#[test]
fn unlinking_an_owner_leaves_it_the_owner() {
    guarded(|| {
        let mut owner = Mailbox::new();
        let address = owner.address();
        let (owned, thread) = Builder::new()
            .spawn_owned(&mut owner, move |mailbox| {
                mailbox.link(&address);
                mailbox.unlink(&address);
                address.send("unlinked").unwrap();
                drop(address);
                mailbox.receive::<Stop>().map(drop)
            })
            .unwrap();
        assert_eq!(owner.receive(), Ok("unlinked"));
        drop(owner);
        assert!(matches!(thread.join().unwrap(), Err(ReceiveError::OwnerTerminated(_))));
        drop(owned);
    });
}

#[test]
fn an_end_that_is_sent_on_is_a_message_like_others() {
    guarded(|| {
        let (mut mailbox, mut friend) = (Mailbox::new(), Mailbox::new());
        let (to, _kept) = (friend.address(), mailbox.address());
        let linked = Mailbox::new();
        mailbox.link(&linked.address());
        drop(linked);
        receive!(mailbox => { other => to.send_envelope(other).unwrap(), }).unwrap();
        to.send(7_u8).unwrap();
        assert_eq!(friend.receive(), Ok(7_u8), "nothing is linked here");
        assert_eq!(friend.receive_only::<LinkTerminated>().unwrap().panic_message(), None);
    });
}

#[test]
fn the_end_of_anothers_owner_that_is_sent_on_takes_nobodys_own_owner() {
    guarded(|| {
        let (mut owner, mut other) = (Mailbox::new(), Mailbox::new());
        // The threads that are started for them give them away.
        let [mut mailbox, mut friend] = [&mut owner, &mut other].map(|owner| {
            let (_, thread) = Builder::new().spawn_owned(owner, std::mem::take).unwrap();
            thread.join().unwrap()
        });
        drop(other);
        let end = friend.receive::<OwnerTerminated>().unwrap();
        assert_eq!(friend.owner(), None);
        mailbox.address().send(end).unwrap();
        // It is checked on the way.
        assert_eq!(mailbox.receive_timeout::<u8>(Duration::ZERO), Err(ReceiveError::Timeout));
        assert_eq!(mailbox.owner(), Some(owner.address()));
        assert!(mailbox.receive_only::<OwnerTerminated>().is_ok());
        assert_eq!(mailbox.owner(), Some(owner.address()));
    });
}

#[test]
fn hundreds_of_links_to_one_and_from_one_are_all_told() {
    const LINKED: usize = 260;
    let mut middle = Mailbox::new();
    let address = middle.address();
    let mut linked: Vec<_> = (0..LINKED).map(|_| Mailbox::new()).collect();
    let addresses: Vec<_> = linked.iter().map(Mailbox::address).collect();
    for (other, its_address) in linked.iter_mut().zip(&addresses) {
        middle.link(its_address);
        other.link(&address);
    }
    let next_end = |mailbox: &mut Mailbox| {
        mailbox.receive_timeout::<LinkTerminated>(Duration::ZERO).map(|end| end.address().clone())
    };
    // Those beyond the first hundred and thirty end first, each while the others are linked still.
    linked.truncate(130);
    let mut ended: Vec<_> = (130..LINKED).map(|_| next_end(&mut middle).unwrap()).collect();
    ended.sort_unstable();
    assert_eq!((ended.as_slice(), next_end(&mut middle)), (&addresses[130..], Err(ReceiveError::Timeout)));
    linked[40].unlink(&address);
    drop(middle);
    for (at, other) in linked.iter_mut().enumerate() {
        let told = if at == 40 { Err(ReceiveError::Timeout) } else { Ok(address.clone()) };
        assert_eq!((next_end(other), next_end(other)), (told, Err(ReceiveError::Timeout)));
    }
}
