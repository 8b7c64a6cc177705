//! A calculator in the D style: a thread with a register. Clients send it operations of several types. A division by
//! zero makes it panic; the mailbox linked to it receives the reason, and starts another.
//!
//! `cargo run --release -p ysuite --example calculator`

use std::time::Duration;

use ysuite::mailbox::{Address, LinkTerminated, Mailbox, OwnerTerminated, ReceiveError};
use ysuite::{receive, receive_timeout};

struct Add(i64);
struct Multiply(i64);
struct Divide(i64);
struct Clear;

/// Runs until its owner ends, or no client has its address any more.
fn calculator(mailbox: &mut Mailbox) -> Result<(), ReceiveError> {
    let mut register = 0_i64;
    loop {
        receive!(mailbox => {
            (Add(number)): Add => register += number,
            (Multiply(number)): Multiply => register *= number,
            // No guard for zero: a wrong operation of a client makes the calculator panic.
            (Divide(number)): Divide => register /= number,
            _: Clear => register = 0,
            // A question, and the address for the result. The calculator ignores whether the client still waits for it.
            (client, digits): (Address, usize) => drop(client.send(format!("{register:0digits$}"))),
            // A catch-all would get this as well.
            _: OwnerTerminated => return Ok(()),
            unknown => println!("calculator: what is {unknown:?}?"),
        })?;
    }
}

/// Asks for the value of the register. `None`: the calculator has ended.
fn ask(mailbox: &mut Mailbox, calculator: &Address) -> Option<String> {
    // If it has ended already, the notice has been sent.
    drop(calculator.send((mailbox.address(), 4_usize)));
    receive_timeout!(mailbox, Duration::from_secs(10) => {
        answer: String => Some(answer),
        end: LinkTerminated => {
            println!("{end}");
            None
        },
    })
    .expect("a result, or a notice")
}

fn main() {
    let mut mailbox = Mailbox::new();
    let first = mailbox.spawn_linked(calculator);
    println!("{first} calculates");
    first.send(Add(20)).expect("a calculator");
    first.send(Add(1)).expect("a calculator");
    first.send(Multiply(2)).expect("a calculator");
    first.send("nonsense").expect("a calculator");
    println!("(20 + 1) * 2 = {}", ask(&mut mailbox, &first).expect("a calculator"));
    // Overtakes the messages that were sent and not yet received.
    first.send_priority(Clear).expect("a calculator");

    first.send(Divide(0)).expect("a calculator");
    assert_eq!(ask(&mut mailbox, &first), None);

    let second = mailbox.spawn_linked(calculator);
    second.send(Add(7)).expect("a calculator");
    println!("7 = {}", ask(&mut mailbox, &second).expect("a calculator"));
}
