//! Names: taken once, found by every thread, free again with the end.

use std::thread;

use ysuite::mailbox::{Builder, Mailbox, ReceiveError, RegisterError, locate, register, unregister};

use crate::support::guarded;

#[test]
fn a_name_is_taken_once() {
    let (one, two) = (Mailbox::new(), Mailbox::new());
    assert_eq!(locate("taken once"), None);
    register("taken once", &one.address()).unwrap();
    assert_eq!(register("taken once", &two.address()), Err(RegisterError::Taken));
    assert_eq!(register("taken once", &one.address()), Err(RegisterError::Taken));
    assert_eq!(locate("taken once"), Some(one.address()));
    register("another one", &one.address()).unwrap();
    assert_eq!(unregister("taken once"), Some(one.address()));
    assert_eq!((unregister("taken once"), locate("taken once")), (None, None));
    register("taken once", &two.address()).unwrap();
    drop((one, two));
    // Names end with their mailboxes.
    assert_eq!((locate("taken once"), locate("another one")), (None, None));
}

#[test]
fn an_end_takes_its_own_names_and_no_others() {
    let (one, two) = (Mailbox::new(), Mailbox::new());
    let name = |number: usize| format!("of two {number}");
    for number in 0..60 {
        register(&name(number), &if number % 3 == 0 { one.address() } else { two.address() }).unwrap();
    }
    // Some change hands before.
    for number in (0..60).filter(|number| number % 6 == 0) {
        assert_eq!(unregister(&name(number)), Some(one.address()));
        register(&name(number), &two.address()).unwrap();
    }
    let kept = two.address();
    drop(one);
    for number in 0..60 {
        let owner = (number % 6 == 0 || number % 3 != 0).then(|| kept.clone());
        assert_eq!(locate(&name(number)), owner, "{number}");
    }
    drop(two);
    assert!((0..60).all(|number| locate(&name(number)).is_none()));
}

#[test]
fn an_ended_mailbox_gets_no_name() {
    let mailbox = Mailbox::new();
    let address = mailbox.address();
    drop(mailbox);
    assert_eq!(register("of nobody", &address), Err(RegisterError::Ended));
    assert_eq!(RegisterError::Ended.to_string(), "a mailbox that has ended cannot have a name");
    assert_eq!(locate("of nobody"), None);
}

#[test]
fn a_name_keeps_a_mailbox_open() {
    guarded(|| {
        let (address, thread) = Builder::new().spawn(|mailbox| mailbox.receive::<u8>()).unwrap();
        register("kept open", &address).unwrap();
        drop(address);
        locate("kept open").unwrap().send(7_u8).unwrap();
        assert_eq!(thread.join().unwrap(), Ok(7));
        let (address, thread) = Builder::new().spawn(|mailbox| mailbox.receive::<u8>()).unwrap();
        register("kept open", &address).unwrap();
        drop(address);
        drop(unregister("kept open"));
        assert_eq!(thread.join().unwrap(), Err(ReceiveError::Disconnected));
    });
}

#[test]
fn threads_that_race_for_a_name() {
    guarded(|| {
        for _ in 0..50 {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    thread::spawn(|| {
                        let mut mailbox = Mailbox::new();
                        let won = register("raced for", &mailbox.address()).is_ok();
                        if let Some(found) = locate("raced for") {
                            // It may have ended meanwhile.
                            let _ = found.send(1_u8);
                        }
                        if won {
                            assert_eq!(mailbox.receive(), Ok(1_u8));
                        }
                        won
                    })
                })
                .collect();
            let won =
                threads.into_iter().filter(|_| true).map(|thread| thread.join().unwrap()).filter(|won| *won).count();
            assert!(won >= 1);
            assert_eq!(locate("raced for"), None);
        }
    });
}
