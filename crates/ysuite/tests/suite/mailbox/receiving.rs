//! Which message is received: by type, pattern, guard; what is left for later; what the errors say.

use std::time::Duration;

use ysuite::mailbox::{Address, Envelope, LinkTerminated, Mailbox, ReceiveError};
use ysuite::{receive, receive_timeout};

use crate::support::{guarded, panics};

const NOW: Duration = Duration::ZERO;

fn with_address() -> (Mailbox, Address) {
    let mailbox = Mailbox::new();
    let address = mailbox.address();
    (mailbox, address)
}

#[derive(Debug, PartialEq)]
#[repr(align(64))]
struct Aligned(u8);

#[derive(Debug, PartialEq)]
struct Nothing;

#[test]
fn values_of_every_size_and_alignment() {
    let (mut mailbox, address) = with_address();
    for round in 0..3 {
        address.send(()).unwrap();
        address.send(Nothing).unwrap();
        address.send(round).unwrap();
        address.send([round; 6]).unwrap();
        address.send([round; 7]).unwrap();
        address.send(i128::from(round)).unwrap();
        address.send(Aligned(9)).unwrap();
        address.send([1_u8; 3000]).unwrap();
        address.send(Box::new(5_u16)).unwrap();
        address.send(vec!["text".to_owned()]).unwrap();
        assert_eq!(mailbox.receive(), Ok(()));
        assert_eq!(mailbox.receive(), Ok(Nothing));
        assert_eq!(mailbox.receive(), Ok(round));
        assert_eq!(mailbox.receive(), Ok([round; 6]));
        assert_eq!(mailbox.receive(), Ok([round; 7]));
        assert_eq!(mailbox.receive(), Ok(i128::from(round)));
        let aligned = receive!(mailbox => { it: Aligned where std::ptr::from_ref(it).is_aligned() => it, });
        assert_eq!(aligned, Ok(Aligned(9)));
        assert_eq!(mailbox.receive(), Ok([1_u8; 3000]));
        assert_eq!(mailbox.receive(), Ok(Box::new(5_u16)));
        assert_eq!(mailbox.receive(), Ok(vec!["text".to_owned()]));
    }
    assert_eq!(mailbox.set_aside(), 0);
}

/// Claim: A message that matches no pattern keeps its position.
/// Also: suite mailbox::random::random_operations_do_what_the_model_does,
/// suite mailbox::bounds::what_is_set_aside_leaves_room_for_what_is_asked_for.
#[test]
fn what_matches_nothing_keeps_its_place() {
    let (mut mailbox, address) = with_address();
    for number in 0..5 {
        address.send(number).unwrap();
        address.send(number.to_string()).unwrap();
    }
    // From the last: everything before it is set aside, and stays in order.
    assert_eq!(receive!(mailbox => { text: String where text == "3" => text, }), Ok("3".to_owned()));
    assert_eq!(mailbox.set_aside(), 7);
    assert_eq!(mailbox.receive::<String>(), Ok("0".to_owned()));
    assert_eq!(mailbox.receive::<i32>(), Ok(0));
    let mut rest = Vec::new();
    while mailbox.set_aside() != 0 {
        rest.push(
            receive!(mailbox => { number: i32 => number, text: String => -text.parse::<i32>().unwrap(), }).unwrap(),
        );
    }
    assert_eq!(rest, [1, -1, 2, -2, 3]);
    // And those that were not checked yet come after.
    assert_eq!(mailbox.receive::<i32>(), Ok(4));
    assert_eq!(mailbox.receive_only::<String>(), Ok("4".to_owned()));
}

#[test]
fn the_first_handler_that_is_for_a_message_gets_it() {
    let (mut mailbox, address) = with_address();
    let mut got = Vec::new();
    for number in [-1_i64, 0, 7, 100] {
        address.send(number).unwrap();
    }
    address.send(Some(3_u8)).unwrap();
    address.send(None::<u8>).unwrap();
    address.send((1_u8, 2_u8)).unwrap();
    address.send('x').unwrap();
    for _ in 0..8 {
        // All handlers use the same variable: only one runs.
        receive!(mailbox => {
            0: i64 => got.push("zero".to_owned()),
            number: i64 where *number < 0 => got.push(format!("less {number}")),
            number: i64 where *number > 50 => got.push(format!("much {number}")),
            number: i64 => got.push(format!("some {number}")),
            (Some(number)): Option<u8> => got.push(format!("option {number}")),
            (a, b): (u8, u8) => got.push(format!("pair {a} {b}")),
            other => got.push(format!("{other:?}")),
        })
        .unwrap();
    }
    assert_eq!(got[..4], ["less -1", "zero", "some 7", "much 100"]);
    assert_eq!(got[4..6], ["option 3".to_owned(), format!("Envelope({})", std::any::type_name::<Option<u8>>())]);
    assert_eq!(got[6..], ["pair 1 2", "Envelope(char)"]);
}

#[test]
fn handlers_leave_loops_and_functions_and_use_the_mailbox() {
    fn run(mailbox: &mut Mailbox) -> Result<u32, ReceiveError> {
        let mut rounds = 0;
        loop {
            rounds += 1;
            receive!(mailbox => {
                _: u8 => continue,
                _: u16 => break,
                // Nothing of the search is left when a handler runs.
                _: u32 => mailbox.address().send(mailbox.receive_only::<char>()?).unwrap(),
                _: u64 => return Ok(1000 + rounds),
            })?;
            rounds += 10;
        }
        Ok(rounds)
    }
    let (mut mailbox, address) = with_address();
    address.send(0_u8).unwrap();
    address.send(0_u32).unwrap();
    address.send('c').unwrap();
    address.send(0_u16).unwrap();
    assert_eq!(run(&mut mailbox), Ok(13));
    assert_eq!(mailbox.receive::<char>(), Ok('c'));
    address.send(0_u64).unwrap();
    assert_eq!(run(&mut mailbox), Ok(1001));
    drop(address);
    assert_eq!(run(&mut mailbox), Err(ReceiveError::Disconnected));
}

#[test]
fn a_type_that_is_never_sent() {
    guarded(|| {
        let (mut mailbox, address) = with_address();
        address.send(1_u8).unwrap();
        assert_eq!(mailbox.receive_timeout::<u16>(NOW), Err(ReceiveError::Timeout));
        assert_eq!(mailbox.receive_timeout::<u16>(Duration::from_millis(3)), Err(ReceiveError::Timeout));
        assert_eq!(receive_timeout!(mailbox, NOW => { number: u16 => number, }), Err(ReceiveError::Timeout));
        assert_eq!(receive_timeout!(mailbox, Duration::MAX => { number: u8 => number, }), Ok(1));
        address.send(2_u8).unwrap();
        drop(address);
        // Without a timeout it waits as long as there is any address.
        assert_eq!(mailbox.receive::<u16>(), Err(ReceiveError::Disconnected));
        assert_eq!(mailbox.receive::<u8>(), Ok(2));
    });
}

#[test]
fn receive_only_leaves_what_it_does_not_expect() {
    let (mut mailbox, address) = with_address();
    address.send((1_u8, 'a')).unwrap();
    address.send("text").unwrap();
    let mismatch = mailbox.receive_only::<&str>().unwrap_err();
    assert_eq!(mismatch, ReceiveError::Mismatch { expected: "&str", found: "(u8, char)" });
    assert_eq!(mismatch.to_string(), "a message of type &str was expected, not (u8, char)");
    assert_eq!(mailbox.receive_only::<&str>(), Err(mismatch));
    assert_eq!(mailbox.receive_only::<(u8, char)>(), Ok((1, 'a')));
    assert_eq!(mailbox.receive_only::<&str>(), Ok("text"));
}

#[test]
fn a_handler_that_sends_to_itself() {
    let (mut mailbox, address) = with_address();
    address.send(0_u32).unwrap();
    let mut last = 0;
    for _ in 0..1_000 {
        receive!(mailbox => { number: u32 => { address.send(number + 1).unwrap(); last = number } ,}).unwrap();
    }
    assert_eq!(last, 999);
}

/// Claim: A guard that panics leaves the message in the mailbox.
#[test]
fn a_guard_that_panics_leaves_the_message() {
    let (mut mailbox, address) = with_address();
    fn explode(_: &u8) -> bool {
        panic!("this guard panics")
    }
    for aside in [false, true] {
        address.send(5_u8).unwrap();
        if aside {
            assert_eq!(mailbox.receive_timeout::<char>(NOW), Err(ReceiveError::Timeout));
        }
        address.send(6_u8).unwrap();
        let text = panics(|| drop(receive!(mailbox => { number: u8 where explode(number) => number, })));
        assert_eq!(text, "this guard panics");
        assert_eq!(mailbox.receive::<u8>(), Ok(5));
        assert_eq!(mailbox.receive::<u8>(), Ok(6));
    }
}

/// The message has been checked: a link to an ended mailbox is reported after it.
#[test]
fn a_guard_that_panics_leaves_the_message_before_what_comes_of_a_link() {
    let (mut mailbox, address) = with_address();
    fn explode(_: &u8) -> bool {
        panic!("this guard panics")
    }
    address.send(5_u8).unwrap();
    let text = panics(|| drop(receive!(mailbox => { number: u8 where explode(number) => number, })));
    assert_eq!(text, "this guard panics");
    let ended = Mailbox::new().address();
    mailbox.link(&ended);
    assert_eq!(mailbox.set_aside(), 2);
    assert_eq!(mailbox.receive::<u8>(), Ok(5));
    assert!(matches!(mailbox.receive_timeout::<u8>(NOW), Err(ReceiveError::LinkTerminated(_))));
}

#[test]
fn a_guard_is_asked_about_each_message_once() {
    let (mut mailbox, address) = with_address();
    // If something is set aside a search begins with the urgent messages, and comes to the new ones after that.
    address.send('a').unwrap();
    assert_eq!(mailbox.receive_timeout::<u8>(NOW), Err(ReceiveError::Timeout));
    (0..3_u8).for_each(|number| address.send_priority(number).unwrap());
    (3..6_u8).for_each(|number| address.send(number).unwrap());
    let mut asked = Vec::new();
    let mut refuses = |number: u8| {
        asked.push(number);
        false
    };
    let received = receive_timeout!(mailbox, NOW => { number: u8 where refuses(*number) => number, });
    assert_eq!((received, asked), (Err(ReceiveError::Timeout), vec![0, 1, 2, 3, 4, 5]));
}

#[test]
fn an_envelope_is_opened_by_its_type_only() {
    let envelope = Envelope::new(String::from("text"));
    assert!(envelope.is::<String>() && !envelope.is::<&str>());
    assert_eq!(envelope.downcast_ref::<String>().unwrap(), "text");
    assert_eq!(envelope.type_name(), "alloc::string::String");
    let envelope = envelope.downcast::<Vec<u8>>().unwrap_err();
    assert_eq!(envelope.downcast::<String>().unwrap(), "text");
    assert_eq!(size_of::<Option<Envelope>>(), 4 * size_of::<usize>());
}

#[test]
fn a_catch_all_sends_on_what_it_gets() {
    let (mut mailbox, address) = with_address();
    let (mut behind, next) = with_address();
    address.send([7_u64; 8]).unwrap();
    receive!(mailbox => { other => next.send_envelope(other).unwrap(), }).unwrap();
    assert_eq!(behind.receive_only::<[u64; 8]>(), Ok([7; 8]));
}

/// Claim: A mailbox receives whatever comes next, of any type, without a handler for it.
#[test]
fn whatever_comes_is_received() {
    let (mut mailbox, address) = with_address();
    assert_eq!(mailbox.receive_any_timeout(NOW).unwrap_err(), ReceiveError::Timeout);
    address.send(1_u8).unwrap();
    address.send([1_u8; 300]).unwrap();
    address.send("set aside").unwrap();
    address.send(Box::new(|x: u32| x + 1) as Box<dyn Fn(u32) -> u32 + Send>).unwrap();
    address.send_priority(Nothing).unwrap();
    // What was passed over has kept its place.
    assert_eq!(mailbox.receive(), Ok([1_u8; 300]));
    assert!(mailbox.receive_any().unwrap().is::<Nothing>());
    assert_eq!(mailbox.receive_any().unwrap().downcast().ok(), Some(1_u8));
    assert_eq!(mailbox.receive_any_timeout(NOW).unwrap().downcast().ok(), Some("set aside"));
    let function = mailbox.receive_any_timeout(Duration::MAX).unwrap().downcast::<Box<dyn Fn(u32) -> u32 + Send>>();
    assert_eq!(function.unwrap()(6), 7);
    // Also the notice of an end, which is no error here.
    let other = Mailbox::new();
    mailbox.link(&other.address());
    drop(other);
    assert!(mailbox.receive_any().unwrap().is::<LinkTerminated>());
    drop(address);
    assert_eq!(mailbox.receive_any().unwrap_err(), ReceiveError::Disconnected);
    assert_eq!(mailbox.receive_any_timeout(Duration::MAX).unwrap_err(), ReceiveError::Disconnected);
}
