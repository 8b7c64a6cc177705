//! A funnel: turns, strangers, and senders that end.

use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use ysuite_shm::{
    Bytes, BytesSender, Ended, Error, Event, Funnel, RecvTimeoutError, Sender, TryRecvError, Why, connect,
};

use crate::LONG;

fn name(test: &str) -> String {
    format!("test-{}-funnel-{test}", std::process::id())
}

#[test]
fn messages_of_each_sender_arrive_in_order() {
    let mut funnel = Funnel::<[u64; 2]>::without_name().unwrap();
    let senders: Vec<_> = (0..5)
        .map(|_| {
            let (number, seat) = funnel.seat().unwrap();
            thread::spawn(move || {
                let mut sender = Sender::<[u64; 2]>::from_fd(seat, 16).unwrap();
                (0..5_000).for_each(|message| sender.send([number, message]).unwrap());
            })
        })
        .collect();
    let mut next = [0; 5];
    while let Ok((from, [number, message])) = funnel.recv_from() {
        assert_eq!((from, message), (number, next[number as usize]));
        next[number as usize] += 1;
    }
    assert_eq!(next, [5_000; 5]);
    assert_eq!(funnel.try_recv(), Err(TryRecvError::Ended(Error::Closed)));
    let mut ended: Vec<_> = std::iter::from_fn(|| funnel.next_ended()).collect();
    ended.sort_by_key(|ended| ended.sender);
    assert!(ended.iter().copied().eq((0..5).map(|sender| Ended { sender, error: Error::Closed })));
    senders.into_iter().for_each(|sender| sender.join().unwrap());
}

#[test]
fn a_receiver_that_sleeps_is_woken_by_any_sender() {
    let name = name("sleeps");
    let mut funnel = Funnel::<u64>::bind(&name).unwrap();
    funnel.set_spin(0);
    let receiving = thread::spawn(move || {
        let sum = (0..2_000).map(|_| funnel.recv_timeout(LONG).unwrap()).sum::<u64>();
        (funnel, sum)
    });
    let mut senders: Vec<_> = (0..10).map(|_| Sender::<u64>::from_fd(connect(&name).unwrap(), 4).unwrap()).collect();
    for message in 0..2_000 {
        senders[message as usize * 7 % 10].send(message).unwrap();
    }
    let (mut funnel, sum) = receiving.join().unwrap();
    assert_eq!(sum, 1_999_000);
    assert_eq!((funnel.try_recv(), funnel.senders()), (Err(TryRecvError::Empty), 10));
    drop(senders);
    assert_eq!(funnel.try_recv(), Err(TryRecvError::Empty));
    while funnel.senders() > 0 {
        assert_eq!(funnel.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
    }
}

/// Claim: A busy sender does not keep others from their turn.
#[test]
fn senders_take_turns() {
    let mut funnel = Funnel::<u64>::without_name().unwrap();
    let seats = [funnel.seat().unwrap(), funnel.seat().unwrap()];
    let mut senders = seats.map(|(_, seat)| Sender::<u64>::from_fd(seat, 1_000).unwrap());
    for (number, sender) in senders.iter_mut().enumerate() {
        (0..1_000).for_each(|_| sender.send(number as u64).unwrap());
    }
    let ones = funnel.try_iter().take(1_000).filter(|number| *number == 1).count();
    assert!((300..=700).contains(&ones), "{ones}");
}

/// Claim: Senders that are idle cost nothing: not a look for each message.
#[test]
fn idle_senders_are_parked() {
    let mut funnel = Funnel::<u64>::without_name().unwrap();
    let mut idle: Vec<_> = (0..100).map(|_| Sender::<u64>::from_fd(funnel.seat().unwrap().1, 1).unwrap()).collect();
    idle.iter_mut().for_each(|sender| sender.send(0).unwrap());
    assert_eq!(funnel.try_iter().count(), 100);
    assert!(funnel.arm());
    // What is readable now is so by the one that sends, and no other is looked at.
    let mut busy = Sender::<u64>::from_fd(funnel.seat().unwrap().1, 1).unwrap();
    for message in 1..1_000 {
        busy.send(message).unwrap();
        assert_eq!(funnel.recv(), Ok(message));
    }
    idle[50].send(5).unwrap();
    assert_eq!(funnel.recv_timeout(LONG), Ok(5));
}

/// Claim: Strangers that say nothing, or rubbish, hold nobody up, and are sent away.
#[test]
fn strangers_hold_nobody_up() {
    let name = name("strangers");
    let mut funnel = Funnel::<u64>::bind(&name).unwrap();
    let silent: Vec<_> = (0..100).map(|_| connect(&name).unwrap()).collect();
    let rude: Vec<_> = (0..10)
        .map(|_| {
            let socket = connect(&name).unwrap();
            rustix::net::send(&socket, b"GET / HTTP/1.1\r\n\r\n", rustix::net::SendFlags::empty()).unwrap();
            socket
        })
        .collect();
    let mut sender = Sender::<u64>::from_fd(connect(&name).unwrap(), 4).unwrap();
    sender.send(1).unwrap();
    assert_eq!(funnel.recv_timeout(LONG), Ok(1));
    // A limited number of strangers is kept; the others were sent away for their number or their time.
    let endings: Vec<_> = std::iter::from_fn(|| funnel.next_ended()).map(|ended| ended.error).collect();
    assert!(funnel.senders() <= 65, "{}", funnel.senders());
    assert_eq!(endings.iter().filter(|error| **error == Error::Refused(Why::Magic)).count(), 10);
    // Those that stay silent go when their time is over.
    while funnel.senders() > 1 {
        assert_eq!(funnel.recv_timeout(Duration::from_millis(50)), Err(RecvTimeoutError::Timeout));
    }
    drop((silent, rude));
    sender.send(2).unwrap();
    assert_eq!(funnel.recv_timeout(LONG), Ok(2));
    // A stream cannot even connect.
    assert!(UnixStream::connect(format!("/nowhere/{name}")).is_err());
}

#[test]
fn what_a_sender_had_sent_is_received_behind_its_end() {
    let mut funnel = Funnel::<u64>::without_name().unwrap();
    let mut sender = Sender::<u64>::from_fd(funnel.seat().unwrap().1, 100).unwrap();
    sender.send_batch(0..50).unwrap();
    drop(sender);
    let mut all = Vec::new();
    while funnel.recv_batch(&mut all, 7).is_ok() {}
    assert!(all.into_iter().eq(0..50));
    assert_eq!(funnel.next_ended(), Some(Ended { sender: 0, error: Error::Closed }));
}

/// Claim: Who waits for events of a funnel is told of a sender's end, behind what that had sent.
#[test]
fn an_end_is_an_event() {
    let mut funnel = Funnel::<u64>::bind(&name("event")).unwrap();
    let (number, seat) = funnel.seat().unwrap();
    let sending = thread::spawn(move || {
        let mut sender = Sender::<u64>::from_fd(seat, 8).unwrap();
        (0..3).for_each(|message| sender.send(message).unwrap());
    });
    assert_eq!(funnel.recv_from_timeout(LONG), Ok((number, 0)));
    for message in 1..3 {
        assert_eq!(funnel.recv_event(), Ok(Event::Message(number, message)));
    }
    assert_eq!(funnel.recv_from_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
    assert_eq!(funnel.recv_event(), Ok(Event::Ended(Ended { sender: number, error: Error::Closed })));
    sending.join().unwrap();
}

/// Claim: A funnel of bytes takes messages of any length of any sender, and a sender of messages of a type is refused.
#[test]
fn a_funnel_of_bytes() {
    let name = name("bytes");
    let mut funnel = Funnel::<Bytes>::bind(&name).unwrap();
    let senders: Vec<_> = (0..3_u8)
        .map(|number| {
            let mut sender = BytesSender::from_fd(connect(&name).unwrap(), 1_000).unwrap();
            thread::spawn(move || {
                (0..2_000).for_each(|message| sender.send(&vec![number; message % 300]).unwrap());
            })
        })
        .collect();
    let mut next = [0; 3];
    for _ in 0..3 * 2_000 {
        let Bytes(message) = funnel.recv().unwrap();
        // Empty ones tell nothing of their sender.
        let Some(number) = message.first() else { continue };
        let next = &mut next[usize::from(*number)];
        *next += usize::from(*next % 300 == 0);
        assert_eq!((message.len(), message.iter().all(|byte| byte == number)), (*next % 300, true));
        *next += 1;
    }
    assert_eq!(next, [2_000; 3]);
    senders.into_iter().for_each(|sender| sender.join().unwrap());
    let mut stranger = Sender::<u64>::from_fd(connect(&name).unwrap(), 1).unwrap();
    while !stranger.is_disconnected() {
        assert_eq!(funnel.try_recv(), Err(TryRecvError::Empty));
    }
    assert!(matches!(stranger.send(1).unwrap_err().1, Error::Refused(_)));
}

/// Claim: A funnel that is told to spin for ever learns of the end of a sender, of all, and of the time.
#[test]
fn a_funnel_that_spins_learns_of_ends() {
    let mut funnel = Funnel::<u64>::without_name().unwrap();
    funnel.set_spin(u32::MAX);
    let mut senders: Vec<_> = (0..2).map(|_| Sender::<u64>::from_fd(funnel.seat().unwrap().1, 4).unwrap()).collect();
    for number in 0..2 {
        senders[0].send(number).unwrap();
        assert_eq!(funnel.recv(), Ok(number));
        assert_eq!(funnel.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
        let gone = senders.pop();
        let going = thread::spawn(move || {
            thread::sleep(Duration::from_millis(1));
            drop(gone);
        });
        if number == 0 {
            assert_eq!(funnel.recv_event(), Ok(Event::Ended(Ended { sender: 1, error: Error::Closed })));
        } else {
            assert_eq!(funnel.recv(), Err(Error::Closed));
        }
        going.join().unwrap();
    }
}

/// Claim: A receive without time meets the senders that have come.
#[test]
fn who_has_no_time_meets_who_has_come() {
    let name = name("no-time");
    let mut funnel = Funnel::<u64>::bind(&name).unwrap();
    let socket = connect(&name).unwrap();
    let sending = thread::spawn(move || Sender::<u64>::from_fd(socket, 4).unwrap().send(7));
    let begun = Instant::now();
    let found = loop {
        match funnel.recv_timeout(Duration::ZERO) {
            Err(RecvTimeoutError::Timeout) if begun.elapsed() < LONG => thread::yield_now(),
            found => break found,
        }
    };
    assert_eq!(found, Ok(7));
    sending.join().unwrap().unwrap();
}
