//! The keeper: an actor that knows every open job. It answers each exactly once: who takes a job out of its table answers it.

use std::collections::HashMap;
use std::time::Duration;

use ysuite::mailbox::Mailbox;
use ysuite::{receive, receive_timeout, spsc, watch};
use ysuite_zmq::Reply;

use super::floor::{Order, Sheet};
use crate::protocol::{Answer, Counts, Report, Request, Said, sheet};

/// Jobs that may be open at a time.
const MOST_OPEN: usize = 10_000;
/// Attempts that may fail.
const MOST_ATTEMPTS: u32 = 3;
/// Workers that may end over an attempt. Some are killed for reasons of their own.
const MOST_DEATHS: u32 = 6;
/// Before the second attempt, and twice as long before the third.
const BACKOFF: Duration = Duration::from_millis(20);

pub(crate) struct Submit {
    pub(crate) tag: u64,
    /// It has been read, and is right.
    pub(crate) request: Vec<u8>,
    pub(crate) reply: Reply<Vec<u8>>,
}

pub(crate) struct Cancel {
    pub(crate) tag: u64,
    pub(crate) reply: Reply<Vec<u8>>,
}

pub(crate) struct Stop;

struct Open {
    submit: Submit,
    attempt: u32,
    /// How many workers have begun with this attempt.
    begun: u32,
}

pub(crate) struct Keeper {
    open: HashMap<u64, Open>,
    /// The newest job of each tag.
    tags: HashMap<u64, u64>,
    next: u64,
    orders: spsc::Sender<Order>,
    counts: Counts,
    told: watch::Sender<Counts>,
    is_stopping: bool,
}

/// Answers a question. Who has asked may be gone, and the bridge too: then nobody waits.
pub(crate) fn answer(reply: Reply<Vec<u8>>, answer: &Answer) {
    let _ = reply.send(answer.encode());
}

impl Keeper {
    pub(crate) fn new(orders: spsc::Sender<Order>, told: watch::Sender<Counts>) -> Self {
        let (open, tags, counts) = (HashMap::new(), HashMap::new(), Counts::default());
        Self { open, tags, next: 0, orders, counts, told, is_stopping: false }
    }

    /// Until it was told to stop and no job is open.
    pub(crate) fn run(mut self, mailbox: &mut Mailbox) -> Counts {
        while !self.is_stopping || !self.open.is_empty() {
            let received = receive!(mailbox => {
                report: Report => self.hear(report),
                submit: Submit => self.take(submit),
                cancel: Cancel => self.cancel(cancel, mailbox),
                _: Stop => self.is_stopping = true,
            });
            self.counts.open = self.open.len() as u64;
            // An error of either: nobody is there any more.
            if received.is_err() || self.told.send(self.counts).is_err() {
                break;
            }
        }
        self.order(Order::Stop);
        self.counts
    }

    /// If the floor is gone, its end is the keeper's as well: see above.
    fn order(&mut self, order: Order) {
        let _ = self.orders.send(order);
    }

    fn take(&mut self, submit: Submit) {
        let refused = match self.open.len() {
            _ if self.is_stopping => "the coordinator stops",
            MOST_OPEN.. => "too many jobs are open",
            _ => {
                let id = self.next;
                self.next += 1;
                self.tags.insert(submit.tag, id);
                self.open.insert(id, Open { submit, attempt: 0, begun: 0 });
                return self.give(id, None);
            }
        };
        answer(submit.reply, &Answer::Refused(refused.to_owned()));
    }

    /// Has the present attempt made, at once or later.
    fn give(&mut self, id: u64, after: Option<Duration>) {
        let Some(open) = self.open.get(&id) else { return };
        let Ok(Request::Do { task, .. }) = Request::decode(&open.submit.request) else { return };
        let sheet = Sheet { id, attempt: open.attempt, bytes: sheet(id, open.attempt, &task) };
        self.order(match after {
            None => Order::Give(sheet),
            Some(after) => Order::GiveLater(sheet, after),
        });
    }

    /// Answers a job.
    fn close(&mut self, id: u64, with: &Answer) {
        let Some(Open { submit, .. }) = self.open.remove(&id) else { return };
        if self.tags.get(&submit.tag) == Some(&id) {
            self.tags.remove(&submit.tag);
        }
        match with {
            Answer::Done(_) => self.counts.done += 1,
            Answer::Cancelled => self.counts.cancelled += 1,
            _ => self.counts.failed += 1,
        }
        answer(submit.reply, with);
    }

    /// Answers a job that workers may still have.
    fn withdraw(&mut self, id: u64, with: &Answer) {
        self.close(id, with);
        self.order(Order::Withdraw(id));
    }

    fn cancel(&mut self, cancel: Cancel, mailbox: &mut Mailbox) {
        // Being urgent, it may have overtaken its own job, which then waits in the mailbox: the gate has sent that before.
        let _ = receive_timeout!(mailbox, Duration::ZERO => {
            submit: Submit where submit.tag == cancel.tag => self.take(submit),
        });
        let id = self.tags.get(&cancel.tag).copied();
        if let Some(id) = id {
            self.withdraw(id, &Answer::Cancelled);
        }
        answer(cancel.reply, if id.is_some() { &Answer::Cancelled } else { &Answer::Unknown });
    }

    fn hear(&mut self, Report { id, attempt, said }: Report) {
        let Some(open) = self.open.get_mut(&id) else {
            // It was withdrawn, or has been answered: a worker has died behind its result, and another has done it again.
            self.counts.repeated += u64::from(matches!(said, Said::Done(_)));
            if !matches!(said, Said::Begun | Said::Alive) {
                self.order(Order::Forget(id));
            }
            return;
        };
        match said {
            Said::Done(value) => self.close(id, &Answer::Done(value)),
            // Of an attempt that is over.
            _ if open.attempt != attempt => {}
            Said::Begun => {
                open.begun += 1;
                self.counts.retried += u64::from(open.begun + attempt > 1);
                if open.begun > MOST_DEATHS {
                    self.withdraw(id, &Answer::Failed(format!("{MOST_DEATHS} workers have ended over it")));
                }
            }
            Said::Failed if attempt + 1 == MOST_ATTEMPTS => {
                self.close(id, &Answer::Failed(format!("{MOST_ATTEMPTS} attempts have failed")));
            }
            Said::Failed => {
                (open.attempt, open.begun) = (attempt + 1, 0);
                self.give(id, Some(BACKOFF * 2_u32.pow(attempt)));
            }
            Said::Alive | Said::Withdrawn => {}
        }
    }
}
