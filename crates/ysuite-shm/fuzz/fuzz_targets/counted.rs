//! A peer that lies in a ring, or in places, of bytes that say how many they are: to a worker, to a caller, to the receiver of
//! questions.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ysuite_shm::{
    Bytes, BytesCaller, CallError, Error, Funnel, Options, Pending, Question, TryRecvError, TrySendError, WorkReceiver,
};
use ysuite_shm_fuzz::{Input, Kind, Liar, Memory, RING, Role, Trial, attempt, pair};

type Asked = Question<Bytes, Bytes>;

/// The bytes of a record, behind the word with the length.
fn record(number: u64, largest: usize) -> Vec<u8> {
    vec![number as u8; number as usize * 7 % (largest + 1)]
}

fn write(memory: &Memory, at: usize, bytes: &[u8]) {
    memory.set(at, bytes.len() as u64);
    for (word, bytes) in bytes.chunks(8).enumerate() {
        let mut value = [0; 8];
        value[..bytes.len()].copy_from_slice(bytes);
        memory.set(at + 8 + word * 8, u64::from_ne_bytes(value));
    }
}

/// So long that a group has one slot, and so has a place.
fn largest(input: &mut Input) -> usize {
    168 + 8 * input.below(20)
}

/// A word in the ring, of the first groups more often.
fn lie_in_ring(input: &mut Input, liar: &Liar, ring: usize, near: &[u64]) {
    let at = RING + 8 * input.below((ring / 8).min(256));
    liar.page.set(at, input.lie(&[&[liar.page.get(at)], near].concat()));
}

fn jobs(input: &mut Input) {
    let (capacity, largest, (one, other)) = (1 + input.below(24), largest(input), pair());
    let mut worker = WorkReceiver::<Bytes>::from_fd(one).unwrap();
    let stride = (8 + 8 + largest).next_multiple_of(64);
    let ring = (capacity + 1) * stride;
    let liar = Liar::new(other, Kind::WorkBytes, Role::Sender, (8 + largest, 8), capacity, ring);
    liar.hello(input.flip());
    let (mut trial, mut published, mut received) = (Trial::new(3), 0_u64, 0_u64);
    while let Some(next) = trial.next(input, &liar) {
        match next {
            0..=2 if !trial.is_honest() || published - received < capacity as u64 => {
                let group = RING + published as usize % (capacity + 1) * stride;
                write(&liar.page, group + 8, &record(published, largest));
                published += 1;
                liar.page.set(group, published);
            }
            3 => {
                lie_in_ring(input, &liar, ring, &[published, largest as u64]);
                trial.lies += 1;
            }
            4 => _ = liar.lie_in_page(input, &[published, received]),
            5 => assert!(!worker.arm() || !trial.is_honest() || received == published, "it would sleep"),
            _ => match worker.try_recv() {
                Ok(job) => {
                    trial.received_some();
                    assert!(job.0.len() <= largest);
                    assert!(!trial.is_honest() || job.0 == record(received, largest), "in order, each once");
                    if input.flip() {
                        job.finish();
                    }
                    received += 1;
                }
                Err(TryRecvError::Empty) => trial.received_none(None, received == published, false),
                Err(TryRecvError::Ended(error)) => trial.received_none(Some(error), received == published, false),
            },
        }
    }
}

fn questions(input: &mut Input) {
    let (capacity, largest) = (1 + input.below(24), largest(input));
    let mut funnel = Options::new().calls(capacity).funnel_without_name::<Asked>().unwrap();
    let socket = funnel.seat().unwrap().1;
    let stride = (8 + 8 + 8 + largest).next_multiple_of(64);
    let ring = (capacity + 1) * stride;
    let liar = Liar::new(socket, Kind::QuestionBytes, Role::Sender, (8 + largest, 8), capacity, ring);
    liar.hello(input.flip());
    let (mut trial, mut asked, mut received, mut in_hand) = (Trial::new(8), 0_u64, 0_u64, Vec::<Asked>::new());
    while let Some(next) = trial.next(input, &liar) {
        match next {
            0..=2 if !trial.is_honest() || asked - received + (in_hand.len() as u64) < capacity as u64 => {
                let group = RING + asked as usize % (capacity + 1) * stride;
                // Any number has a place.
                liar.page.set(group + 8, if input.flip() { asked } else { input.word() });
                write(&liar.page, group + 16, &record(asked, largest));
                asked += 1;
                liar.page.set(group, asked);
                liar.wake();
            }
            3 => {
                lie_in_ring(input, &liar, ring, &[asked, largest as u64]);
                trial.lies += 1;
            }
            4 => _ = liar.lie_in_page(input, &[asked, received]),
            5 => {
                if let Some(question) = in_hand.pop() {
                    let answer = vec![1; input.below(question.largest().min(255) + 1)];
                    if input.flip() { question.answer(&answer) } else { drop(question) }
                }
            }
            _ => match next_question(&mut funnel) {
                Ok(question) => {
                    trial.received_some();
                    assert!(question.0.len() <= largest);
                    assert!(!trial.is_honest() || question.0 == record(received, largest), "in order, each once");
                    received += 1;
                    in_hand.push(question);
                    assert!(in_hand.len() <= capacity, "no more than may be");
                }
                Err(error) => trial.received_none(error, received == asked, true),
            },
        }
    }
}

/// `Err(None)`: there is none.
fn next_question(funnel: &mut Funnel<Asked>) -> Result<Asked, Option<Error>> {
    funnel.try_recv().map_err(|error| match (funnel.next_ended(), error) {
        (Some(ended), _) => Some(ended.error),
        (None, TryRecvError::Empty) => None,
        (None, TryRecvError::Ended(error)) => Some(error),
    })
}

/// Answers the only call, or drops each third question.
fn answer(liar: &Liar, calls: u64, places: usize, largest: usize) {
    write(&liar.page, RING + 8, &record(calls, largest));
    liar.page.set(RING, (calls * places as u64) << 1 | u64::from(calls % 3 == 2));
}

/// Of one call at a time, whose place is the first one.
fn answers(input: &mut Input) {
    let (places, largest, (one, other)) = (1 + input.below(8), largest(input), pair());
    let mut caller: BytesCaller = Options::new().calls(places).bytes_caller(one, 8).unwrap();
    let ring = places * (8 + 8 + largest).next_multiple_of(64);
    let liar = Liar::new(other, Kind::AnswerBytes, Role::Receiver, (8 + largest, 8), places, ring);
    liar.hello(input.flip());
    let (mut trial, mut calls, mut call, mut is_answered) = (Trial::new(3), 0_u64, None::<Pending>, false);
    while let Some(next) = trial.next(input, &liar) {
        match next {
            0 | 1 if call.is_some() && !is_answered => {
                answer(&liar, calls, places, largest);
                is_answered = true;
            }
            2 => {
                lie_in_ring(input, &liar, ring, &[calls * places as u64 * 2, largest as u64]);
                trial.lies += 1;
            }
            3 => _ = liar.lie_in_page(input, &[calls]),
            4 | 5 if call.is_none() => match caller.try_ask(&[7; 8][..input.below(9)]) {
                Ok(pending) => (calls, call, is_answered) = (calls + 1, Some(pending), false),
                Err(TrySendError::Full(())) => {}
                Err(TrySendError::Ended((), error)) => trial.received_none(Some(error), true, false),
            },
            6 => {
                let is_armed = caller.arm(&call);
                assert!(!is_armed || !trial.is_honest() || call.is_none() || !is_answered, "it would sleep");
            }
            _ => match call.take().map(|call| caller.try_recv(call)) {
                None => trial.received_none(None, true, false),
                Some(Ok(answer)) => {
                    trial.received_some();
                    let is_right = calls % 3 != 2 && answer.0 == record(calls, largest);
                    assert!(answer.0.len() <= largest && (!trial.is_honest() || is_right), "its own answer, whole");
                }
                Some(Err(CallError::Unanswered)) => assert!(!trial.is_honest() || calls % 3 == 2),
                Some(Err(CallError::NotYet(pending))) => {
                    trial.received_none(None, !is_answered, false);
                    call = Some(pending);
                }
                Some(Err(CallError::Ended(error))) => trial.received_none(Some(error), !is_answered, false),
            },
        }
    }
}

fuzz_target!(|data: &[u8]| attempt(data, |input| match input.below(3) {
    0 => jobs(input),
    1 => questions(input),
    _ => answers(input),
}));
