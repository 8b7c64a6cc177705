//! What the submitters of a [life](crate::lived) ask. A job's number says it all, so that the one that asks knows the right answer.

use ysuite_zmq::{Asker, Unanswered};

use crate::protocol::{Answer, LARGEST_PAYLOAD, LONGEST_PAUSE, Request, Task, Work};
use crate::task::checksum;

/// Random numbers that a seed repeats: splitmix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// One of `from..to`.
    pub(crate) fn within(&mut self, from: u64, to: u64) -> u64 {
        from + self.next() % (to - from)
    }
}

/// The next prime; of small numbers.
fn prime_from(mut number: u64) -> u64 {
    while (2..).take_while(|divisor| divisor * divisor <= number).any(|divisor| number.is_multiple_of(divisor)) {
        number += 1;
    }
    number
}

/// What a job is, and what must be answered.
pub(crate) enum Plan {
    Factor {
        smaller: u64,
        larger: u64,
        pause: u16,
        fails: u8,
    },
    Sum(Vec<u8>),
    /// Fails whenever it is tried.
    Hopeless,
    /// Ends each worker that tries it.
    Deadly,
    Cancelled,
    Malformed(Vec<u8>),
}

impl Plan {
    pub(crate) fn of(seed: u64, number: u64) -> Self {
        let mut random = Random(seed ^ number.wrapping_mul(0x0001_0000_01b3));
        match number {
            _ if number % 997 == 500 => Self::Deadly,
            _ if number % 307 == 9 => Self::Hopeless,
            _ if number % 151 == 5 => Self::Cancelled,
            _ if number % 101 == 3 => Self::malformed(&mut random),
            _ if number % 20 == 1 => {
                let length = random.within(10_000, LARGEST_PAYLOAD as u64 + 1);
                Self::Sum((0..length / 8).flat_map(|_| random.next().to_le_bytes()).collect())
            }
            _ => {
                let smaller = prime_from(random.within(300_000, 600_000));
                let larger = prime_from(random.within(1_000_000, 2_000_000));
                let pause = if number % 40 == 2 { random.within(10, 80) as u16 } else { 0 };
                Self::Factor { smaller, larger, pause, fails: u8::from(number % 53 == 4) }
            }
        }
    }

    fn malformed(random: &mut Random) -> Self {
        let request = |work: Work<'_>| Request::Do { tag: 0, task: Task { pause: 0, fails: 0, work } }.encode();
        Self::Malformed(match random.within(0, 5) {
            0 => Vec::new(),
            1 => b"what is this?".to_vec(),
            2 => request(Work::Factor(0)),
            3 => request(Work::Sum(&vec![0; LARGEST_PAYLOAD + 1])),
            _ => request(Work::Factor(15))[..15].to_vec(),
        })
    }

    /// Asks it; the error says what was answered instead of what is right.
    pub(crate) fn ask(&self, tag: u64, asker: &Asker<Vec<u8>, Vec<u8>>) -> Result<(), String> {
        let unanswered = |cause: Unanswered| cause.to_string();
        let task = |pause, fails, work: Work<'_>| Request::Do { tag, task: Task { pause, fails, work } }.encode();
        let pending = asker.begin(match self {
            Self::Factor { smaller, larger, pause, fails } => task(*pause, *fails, Work::Factor(smaller * larger)),
            Self::Sum(payload) => task(0, 0, Work::Sum(payload)),
            Self::Hopeless => task(0, u8::MAX, Work::Factor(15)),
            Self::Deadly => task(0, 0, Work::Crash),
            Self::Cancelled => task(LONGEST_PAUSE, 0, Work::Factor(15)),
            Self::Malformed(bytes) => bytes.clone(),
        });
        let pending = pending.map_err(unanswered)?;
        if matches!(self, Self::Cancelled) {
            let said = asker.ask(Request::Cancel { tag }.encode()).map_err(unanswered)?;
            if Answer::decode(&said) != Ok(Answer::Cancelled) {
                return Err(format!("to a request to cancel: {said:?}"));
            }
        }
        let answer = Answer::decode(&pending.wait().map_err(unanswered)?).map_err(|flaw| flaw.to_string())?;
        let is_right = match (self, &answer) {
            (Self::Factor { smaller, .. }, Answer::Done(value)) => value == smaller,
            (Self::Sum(payload), Answer::Done(value)) => *value == checksum(payload),
            (Self::Hopeless, Answer::Failed(cause)) => cause.contains("attempts"),
            (Self::Deadly, Answer::Failed(cause)) => cause.contains("workers"),
            (Self::Cancelled, Answer::Cancelled) | (Self::Malformed(_), Answer::Malformed(_)) => true,
            _ => false,
        };
        if is_right { Ok(()) } else { Err(format!("{answer:?}")) }
    }
}
