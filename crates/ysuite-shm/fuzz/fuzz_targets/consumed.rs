//! A receiver that lies in its page: about what it has consumed, and what it has given back; to the senders of all kinds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::time::Duration;
use ysuite_shm::{
    BroadcastReceiver, BroadcastSender, BytesSender, Options, Sender, TrySendError, WatchReceiver, WatchSender,
    WorkReceiver, WorkSender,
};
use ysuite_shm_fuzz::{CONSUMED, Fate, GIVEN_BACK, Input, Kind, Liar, Role, attempt, pair};

/// Lies now and then; what it has claimed to have consumed.
struct Claims {
    liar: Liar,
    made: Vec<u64>,
}

impl Claims {
    fn new(liar: Liar) -> Self {
        Self { liar, made: vec![0] }
    }

    fn make(&mut self, input: &mut Input, near: &[u64]) {
        match input.below(4) {
            0 | 1 => self.claim(input.lie(near)),
            2 => self.liar.page.set(GIVEN_BACK, input.lie(near)),
            _ => {
                if self.liar.lie_in_page(input, near) == CONSUMED {
                    self.made.push(self.liar.page.get(CONSUMED));
                }
            }
        }
    }

    fn claim(&mut self, position: u64) {
        self.liar.page.set(CONSUMED, position);
        self.made.push(position);
    }

    /// The greatest that can have been believed.
    fn most(&self, sent: u64) -> u64 {
        self.made.iter().copied().filter(|claim| *claim <= sent).max().unwrap_or(0)
    }
}

fn of_messages(input: &mut Input) {
    let (capacity, (one, other)) = (1 + input.below(24), pair());
    let mut sender = Sender::<u64>::from_fd(one, capacity).unwrap();
    let mut claims = Claims::new(Liar::new(other, Kind::Typed, Role::Receiver, (8, 8), 0, 0));
    claims.liar.hello(input.flip());
    let (mut sent, mut fate) = (0, Fate::default());
    while !input.is_over() {
        match input.below(4) {
            0 => claims.make(input, &[sent, claims.most(sent)]),
            1 => claims.claim(claims.most(sent) + u64::from(claims.most(sent) < sent)),
            2 => _ = sender.arm(),
            _ => match sender.try_send(sent) {
                Ok(()) => {
                    sent += 1;
                    assert!(sent - claims.most(sent) <= capacity as u64, "written over");
                }
                Err(TrySendError::Full(message)) => assert!(message == sent && !fate.is_over()),
                Err(TrySendError::Ended(message, error)) => {
                    assert_eq!(message, sent);
                    fate.ended(error);
                }
            },
        }
    }
    drop(claims.liar.socket);
    assert!(sender.is_disconnected());
    let unread = sender.into_unread().unwrap();
    let first = sent - unread.len() as u64;
    assert!(claims.made.contains(&first) && unread.into_iter().eq(first..sent));
}

fn of_bytes(input: &mut Input) {
    // Also of whole pages, behind which is none.
    let capacity = if input.flip() { 4096 } else { 72 + 8 * input.below(60) };
    let (one, other) = pair();
    let mut sender = BytesSender::from_fd(one, capacity).unwrap();
    let mut claims = Claims::new(Liar::new(other, Kind::Bytes, Role::Receiver, (1, 1), 0, 0));
    claims.liar.hello(input.flip());
    let (mut sent, mut positions, mut fate) = (Vec::new(), vec![0_u64], Fate::default());
    while !input.is_over() {
        let position = positions[positions.len() - 1];
        match input.below(4) {
            0 => claims.make(input, &[position, claims.most(position)]),
            // All, or half.
            1 => claims.claim(positions[if input.flip() { sent.len() } else { sent.len() / 2 }]),
            2 => _ = sender.arm(input.below(64)),
            _ => {
                // Of words that could be lengths.
                let message = vec![input.byte() & 31; input.below(65)];
                match sender.try_send(&message) {
                    Ok(()) => {
                        positions.push(position + (message.len().next_multiple_of(8) + 8) as u64);
                        sent.push(message);
                    }
                    Err(TrySendError::Full(())) => assert!(!fate.is_over()),
                    Err(TrySendError::Ended((), error)) => fate.ended(error),
                }
            }
        }
    }
    drop(claims.liar.socket);
    assert!(sender.is_disconnected());
    let unread = sender.into_unread().unwrap();
    assert!(sent.ends_with(&unread), "what comes back was sent");
    assert!(claims.made.contains(&positions[sent.len() - unread.len()]));
}

fn of_broadcast(input: &mut Input) {
    let capacity = 1 + input.below(24);
    let mut sender = Options::new().broadcast_without_name::<u64>(capacity).unwrap();
    let mut innocent = BroadcastReceiver::<u64>::from_fd(sender.seat().unwrap()).unwrap();
    let seat = sender.seat().unwrap();
    let mut claims = Claims::new(Liar::new(seat, Kind::Broadcast, Role::Receiver, (8, 8), 0, 0));
    sender.serve();
    // The liar joins later.
    let before = input.below(capacity + 1) as u64;
    (0..before).for_each(|message| sender.try_send(message).unwrap());
    claims.liar.hello(input.flip());
    sender.serve();
    let (mut sent, mut received) = (before, 0);
    while !input.is_over() {
        match input.below(5) {
            0 => claims.make(input, &[sent, sent - before]),
            1 => claims.claim(sent - before),
            2 => _ = sender.arm(),
            3 => {
                if let Ok(message) = innocent.try_recv() {
                    assert_eq!(message, received, "the innocent one has all");
                    received += 1;
                }
            }
            _ => sent += u64::from(sender.try_send(sent).is_ok()),
        }
        assert!(sent - received <= capacity as u64, "written over");
    }
    drop(claims);
    finish_broadcast(sender, innocent, received..sent);
}

fn finish_broadcast(
    mut sender: BroadcastSender<u64>,
    mut innocent: BroadcastReceiver<u64>,
    rest: std::ops::Range<u64>,
) {
    let to = rest.end;
    assert!(rest.into_iter().all(|message| innocent.try_recv() == Ok(message)));
    sender.try_send(to).unwrap();
    assert_eq!(innocent.try_recv(), Ok(to), "the liar holds nobody up");
    sender.serve();
    assert_eq!(sender.receivers(), 1);
}

fn of_watch(input: &mut Input) {
    let mut sender = WatchSender::without_name(0_u64).unwrap();
    let mut innocent = WatchReceiver::<u64>::from_fd(sender.seat().unwrap()).unwrap();
    let seat = sender.seat().unwrap();
    let mut claims = Claims::new(Liar::new(seat, Kind::Watch, Role::Receiver, (8, 8), 0, 0));
    claims.liar.hello(input.flip());
    sender.serve();
    let mut sent = 0;
    while !input.is_over() {
        match input.below(3) {
            0 => claims.make(input, &[sent]),
            1 => _ = sender.arm(),
            _ => {
                sent += 1;
                sender.send(sent);
                assert_eq!(innocent.try_recv(), Ok(sent));
            }
        }
    }
    drop(claims);
    sender.serve();
    assert_eq!(sender.receivers(), 1);
}

fn of_work(input: &mut Input) {
    let mut sender = WorkSender::<u64>::without_name(1 + input.below(64)).unwrap();
    let seat = sender.seat().unwrap();
    let mut claims = Claims::new(Liar::new(seat, Kind::Work, Role::Receiver, (8, 8), 0, 0));
    claims.liar.hello(input.flip());
    sender.serve();
    let mut innocent = WorkReceiver::<u64>::from_fd(sender.seat().unwrap()).unwrap();
    let (mut sent, mut done) = (0, Vec::new());
    while !input.is_over() {
        match input.below(6) {
            0 => claims.make(input, &[sent, claims.most(sent)]),
            1 => claims.claim(claims.most(sent) + u64::from(claims.most(sent) < sent)),
            2 => _ = sender.arm(),
            3 => _ = sender.arm_to_settle(),
            4 => {
                if let (Ok(job), true) = (innocent.try_recv(), input.flip()) {
                    done.push(*job);
                    job.finish();
                }
            }
            _ => sent += u64::from(sender.try_send(sent).is_ok()),
        }
    }
    let most = claims.most(sent);
    drop(claims);
    sender.serve();
    while !sender.settle_timeout(Duration::ZERO).unwrap() {
        while let Ok(job) = innocent.try_recv() {
            done.push(*job);
            job.finish();
        }
    }
    assert_eq!((sender.finished(), sender.unfinished(), sender.workers()), (sent, 0, 1));
    done.sort_unstable();
    assert!(done.windows(2).all(|pair| pair[0] < pair[1]), "each is done once");
    assert!(sent - done.len() as u64 <= most, "the liar has done no more than it says");
}

fuzz_target!(|data: &[u8]| attempt(data, |input| match input.below(5) {
    0 => of_messages(input),
    1 => of_bytes(input),
    2 => of_broadcast(input),
    3 => of_watch(input),
    _ => of_work(input),
}));
