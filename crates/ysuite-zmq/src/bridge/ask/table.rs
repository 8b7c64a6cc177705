//! [`Table`]: the questions that have no answer yet, by their numbers, and when the time of each is over.
//!
//! The bridge's thread alone has it. Its memory is that of as many questions as it may have; all takes amortised constant
//! time.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::time::{Duration, Instant};

use ysuite::oneshot;

use super::asker::{Outcome, Unanswered};
use crate::error::Failure;
use crate::frame::Frame;

/// A question as the socket takes it: its parts before the last, and the last.
#[derive(Default)]
pub(super) struct Body {
    pub(super) before: Vec<Frame>,
    pub(super) last: Frame,
}

impl Body {
    // MUTANT: It does not fail for an initialised message.
    /// The same once more, without a copy of what is large.
    fn shared(&mut self) -> Result<Self, Failure> {
        let before = self.before.iter_mut().map(Frame::shared).collect::<Result<_, _>>()?;
        Ok(Self { before, last: self.last.shared()? })
    }
}

struct Question<A> {
    answer: oneshot::Sender<Outcome<A>>,
    /// Kept as long as it may be sent (again).
    body: Body,
    /// Of this attempt.
    until: Instant,
    /// Attempts after this one.
    left: usize,
    is_sent: bool,
}

pub(super) struct Table<A> {
    questions: HashMap<u64, Question<A>>,
    next: u64,
    /// To be sent, in order; some may be there no more.
    unsent: VecDeque<u64>,
    /// By time; some may be there no more, or have another time.
    times: VecDeque<(Instant, u64)>,
    timeout: Duration,
    retries: usize,
}

/// How many entries of a queue may be stale, beyond twice the questions.
const STALE: usize = 1_024;

/// Not that of another table, in any process: an answer for another that was at the same address before is nobody's.
pub(super) fn first() -> u64 {
    RandomState::new().hash_one(())
}

impl<A> Table<A> {
    /// Questions have numbers from `next` on.
    pub(super) fn new(next: u64, timeout: Duration, retries: usize) -> Self {
        let (questions, unsent, times) = (HashMap::new(), VecDeque::new(), VecDeque::new());
        Self { questions, next, unsent, times, timeout, retries }
    }

    pub(super) fn len(&self) -> usize {
        self.questions.len()
    }

    pub(super) fn add(&mut self, body: Body, answer: oneshot::Sender<Outcome<A>>, asked: Instant) {
        let number = self.next;
        self.next = number.wrapping_add(1);
        let until = after(asked, self.timeout);
        let question = Question { answer, body, until, left: self.retries, is_sent: false };
        self.questions.insert(number, question);
        self.unsent.push_back(number);
        self.times.push_back((until, number));
        self.tidy();
    }

    /// Entries of questions that are gone are dropped before they outnumber the others.
    fn tidy(&mut self) {
        let Self { questions, unsent, times, .. } = self;
        let most = 2 * questions.len() + STALE;
        if unsent.len() > most {
            unsent.retain(|number| questions.get(number).is_some_and(|question| !question.is_sent));
        }
        if times.len() > most {
            times.retain(|(until, number)| questions.get(number).is_some_and(|question| question.until == *until));
        }
    }

    /// The next question to be sent: its number, and a body that it need not give back. One that was given up is dropped.
    pub(super) fn next_unsent(&mut self) -> Result<Option<(u64, Body)>, Failure> {
        while let Some(number) = self.unsent.pop_front() {
            let Some(question) = self.questions.get_mut(&number).filter(|question| !question.is_sent) else { continue };
            if question.answer.is_disconnected() {
                self.questions.remove(&number);
                continue;
            }
            question.is_sent = true;
            let body = match question.left {
                0 => core::mem::take(&mut question.body),
                _ => question.body.shared()?,
            };
            return Ok(Some((number, body)));
        }
        Ok(None)
    }

    /// The socket had no room for it: it is the next again.
    pub(super) fn not_sent(&mut self, number: u64, body: Body) {
        if let Some(question) = self.questions.get_mut(&number) {
            question.is_sent = false;
            question.body = body;
            self.unsent.push_front(number);
        }
    }

    /// Gives the question of this number its answer. False: nobody waits for one.
    pub(super) fn answer(&mut self, number: u64, outcome: Outcome<A>) -> bool {
        self.questions.remove(&number).is_some_and(|question| question.answer.send(outcome).is_ok())
    }

    /// Whether a question of this number waits for its answer.
    pub(super) fn has(&self, number: u64) -> bool {
        self.questions.contains_key(&number)
    }

    /// The connection over which all went that were sent is gone. Those that have attempts left are sent again; returns
    /// how many.
    pub(super) fn disconnected(&mut self) -> usize {
        let mut sent: Vec<_> =
            self.questions.iter().filter(|(_, question)| question.is_sent).map(|(&number, _)| number).collect();
        sent.sort_unstable();
        let now = Instant::now();
        sent.into_iter().filter(|&number| self.again(number, now, Unanswered::Disconnected)).count()
    }

    /// Ends the attempts whose time is over. Returns how many will be sent again, and how many there were.
    pub(super) fn expire(&mut self, now: Instant) -> (usize, usize) {
        let (mut again, mut all) = (0, 0);
        while let Some(&(until, number)) = self.times.front().filter(|(until, _)| *until <= now) {
            self.times.pop_front();
            if self.questions.get(&number).is_some_and(|question| question.until == until) {
                let was_sent = self.questions[&number].is_sent;
                all += 1;
                again += usize::from(self.again(number, now, Unanswered::TimedOut) && was_sent);
            }
        }
        (again, all)
    }

    /// Drops those that were given up.
    pub(super) fn forget_abandoned(&mut self) {
        self.questions.retain(|_, question| !question.answer.is_disconnected());
    }

    /// When the time of the next one is over.
    pub(super) fn next_time(&mut self) -> Option<Instant> {
        while let Some((until, number)) = self.times.front() {
            if self.questions.get(number).is_some_and(|question| question.until == *until) {
                return Some(*until);
            }
            self.times.pop_front();
        }
        None
    }

    /// Begins the next attempt of this question. False: there is none, and for this reason no answer.
    fn again(&mut self, number: u64, now: Instant, reason: Unanswered) -> bool {
        let Some(question) = self.questions.get_mut(&number) else { return false };
        if question.left == 0 || question.answer.is_disconnected() {
            self.answer(number, Err(reason));
            return false;
        }
        question.left -= 1;
        question.until = after(now, self.timeout);
        self.times.push_back((question.until, number));
        if core::mem::take(&mut question.is_sent) {
            self.unsent.push_back(number);
        }
        self.tidy();
        true
    }
}

/// A time that the clock cannot hold is a century.
fn after(moment: Instant, time: Duration) -> Instant {
    moment.checked_add(time).unwrap_or_else(|| moment + Duration::from_secs(100 * 365 * 24 * 3_600))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(timeout: Duration, retries: usize) -> Table<u64> {
        Table::new(0, timeout, retries)
    }

    fn add(table: &mut Table<u64>, asked: Instant) -> oneshot::Receiver<Outcome<u64>> {
        let (answer, outcome) = oneshot::channel();
        let last = Frame::copied(b"a question").expect("memory for ten bytes");
        table.add(Body { before: Vec::new(), last }, answer, asked);
        outcome
    }

    fn sent(table: &mut Table<u64>) -> Vec<u64> {
        core::iter::from_fn(|| table.next_unsent().expect("memory for ten bytes"))
            .map(|(number, body)| {
                assert_eq!(&body.last[..], b"a question");
                number
            })
            .collect()
    }

    fn queues(table: &Table<u64>) -> usize {
        table.unsent.len() + table.times.len()
    }

    /// As many as ever, however each of them ends.
    ///
    /// Claim: What is kept of questions is no more than that of those without an answer.
    #[test]
    fn any_number_of_questions_takes_no_memory() {
        const ALL: u64 = 100_000;
        let (mut table, now) = (table(Duration::from_secs(3_600), 1), Instant::now());
        // Answered.
        for number in 0..ALL {
            let mut outcome = add(&mut table, now);
            assert_eq!(sent(&mut table), [number]);
            assert!(table.answer(number, Ok(number)) && !table.answer(number, Ok(number)));
            assert_eq!(outcome.try_recv(), Ok(Ok(number)));
            assert!(queues(&table) <= 2 * (STALE + 2));
        }
        // Given up before they are sent.
        for _ in 0..ALL {
            drop(add(&mut table, now));
            table.forget_abandoned();
            assert!(queues(&table) <= 2 * (STALE + 2));
        }
        assert_eq!((table.len(), sent(&mut table)), (0, vec![]));
        // There is nothing to wake up for.
        assert_eq!((table.next_time(), table.times.len()), (None, 0));
        // Asked again without end, since the connection ends each time.
        let mut table = Table::new(0, Duration::from_secs(3_600), usize::MAX);
        let _outcome = add(&mut table, now);
        for _ in 0..ALL {
            assert_eq!(sent(&mut table), [0]);
            assert_eq!(table.disconnected(), 1);
            assert!(queues(&table) <= 2 * (STALE + 2));
        }
    }

    #[test]
    fn each_attempt_has_its_time() {
        let (second, begun) = (Duration::from_secs(1), Instant::now());
        let mut table = table(second, 1);
        let mut outcomes = [0, 1].map(|late| add(&mut table, begun + second * late));
        assert_eq!(table.next_time(), Some(begun + second));
        assert_eq!(sent(&mut table), [0, 1]);
        assert_eq!(table.expire(begun), (0, 0));
        // The first is asked again, from then on for another second.
        let mut now = begun + second;
        assert_eq!((table.expire(now), sent(&mut table)), ((1, 1), vec![0]));
        now += second;
        assert_eq!(table.expire(now), (1, 2));
        assert_eq!(outcomes[0].try_recv(), Ok(Err(Unanswered::TimedOut)));
        // One that was not sent again in its time ends as well, and is not sent.
        now += second;
        assert_eq!((table.expire(now), table.len()), ((0, 1), 0));
        assert_eq!(outcomes[1].try_recv(), Ok(Err(Unanswered::TimedOut)));
        assert_eq!(sent(&mut table), []);
    }

    /// What there was no room for stays the next; what waits to be sent has lost nothing with a connection.
    #[test]
    fn those_that_were_sent_are_lost_in_order() {
        let (mut table, now) = (table(Duration::MAX, 0), Instant::now());
        let mut outcomes = [(); 4].map(|()| add(&mut table, now));
        let (number, body) = table.next_unsent().expect("memory").expect("a question");
        table.not_sent(number, body);
        assert_eq!(table.disconnected(), 0);
        let two: Vec<_> =
            (0..2).filter_map(|_| table.next_unsent().expect("memory")).map(|(number, _)| number).collect();
        assert_eq!(two, [0, 1]);
        assert_eq!(table.disconnected(), 0);
        for outcome in &mut outcomes[..2] {
            assert_eq!(outcome.try_recv(), Ok(Err(Unanswered::Disconnected)));
        }
        drop(outcomes);
        assert_eq!((sent(&mut table), table.len()), (vec![], 0));
    }
}
