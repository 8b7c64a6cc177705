//! The sender of a work queue.

use core::fmt;
use core::time::Duration;
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use super::{MOST, bit, heard, shape};
use crate::end::{End, Half, Unfulfilled, deadline, ended, unsent};
use crate::funnel::Ended;
use crate::home::{Crowd, Home, Party, wait};
use crate::link::Link;
use crate::page::{GIVEN_BACK, RING, Role, Shape};
use crate::pipe::Outlet;
use crate::ring::typed::Writer;
use crate::ring::{places, region_bytes};
use crate::{Copied, Error, Message, Options, SendError, SendTimeoutError, TrySendError, Why};

/// The sending end of a work queue, whose workers, each a [`WorkReceiver`](crate::WorkReceiver) in a process of its own, take
/// the jobs: each job goes to one of them, the one that has the fewest.
///
/// A worker has at most `credit` jobs at a time, of which it works on one. With a credit of 1 no job waits for a worker
/// that is busy while another is free; with more a worker goes on without waiting for the sender. A worker that is slow or
/// stopped holds up the jobs that it has, and nothing else. A job costs a look at one word of each worker.
///
/// # How many times a job is given out
///
/// A job is [finished](crate::Job::finish) exactly once, unless the sender ends before, and **given out at least
/// once**: once, and once more for each worker that gives it back, or that dies, leaves or breaks the protocol while it has
/// it. Of the jobs that such a worker has, it had begun at most the first; that one may have been done, if the worker died
/// just before it said so. So a job must be such that it may be done again. A job that kills each worker that takes it is
/// given out as long as workers come, unless there is a [limit](Options::attempts): then it is put aside, and
/// [`next_failed`](Self::next_failed) has it.
///
/// What was given back is given out before any new job; by every call that sends or waits, and by [`serve`](Self::serve).
///
/// A job cannot be taken back, and the sender does not learn which worker has it. Where jobs are withdrawn, or given up after
/// some deaths, workers say by a [`Funnel`](crate::Funnel) what they begin, which also tells whose lane has
/// [ended](crate::Funnel::next_ended), and look into a [`WatchSender`](crate::WatchSender)'s list of the jobs that they need
/// not do: `examples/programs/jobs` does so.
///
/// Workers come and go as the receivers of a [`WatchSender`](crate::WatchSender). If the sender is dropped they still have
/// the jobs that they were given, and nobody gets those that they give back.
///
/// ```
/// use ysuite_shm::{Error, WorkReceiver, WorkSender};
///
/// let mut sender = WorkSender::without_name(1)?;
/// let mut clumsy = WorkReceiver::<u32>::from_fd(sender.seat()?)?;
/// sender.send(7).map_err(|error| error.1)?;
/// assert_eq!(*clumsy.recv()?, 7);
/// // It was dropped, and not finished.
/// let mut worker = WorkReceiver::<u32>::from_fd(sender.seat()?)?;
/// sender.serve();
/// worker.recv()?.finish();
/// sender.settle()?;
/// assert_eq!((sender.finished(), sender.unfinished()), (1, 0));
/// # Ok::<_, Error>(())
/// ```
pub struct WorkSender<T: Copied> {
    pub(super) crowd: Crowd<Outbound<T>>,
}

/// What all lanes have in common.
pub(super) struct Jobs<T> {
    credit: usize,
    pub(super) shape: Shape,
    // GROWS: by what workers had, of which each has `credit` at most: new jobs are sent when it is empty.
    /// Given back, and not given out again yet; and how many times it counts for each.
    waiting: VecDeque<(T, u32)>,
    finished: u64,
    /// How many times a job is given out at most; 0: any number.
    attempts: u32,
    // GROWS: by jobs that have failed and that the program does not take.
    failed: VecDeque<T>,
}

impl<T> Jobs<T> {
    /// A job is for another worker, unless this number of attempts is the last.
    fn retry(&mut self, job: T, attempts: u32) {
        if attempts == self.attempts && attempts != 0 {
            self.failed.push_back(job);
        } else {
            self.waiting.push_back((job, attempts));
        }
    }
}

/// The sender's end of a lane.
pub(super) struct Outbound<T> {
    writer: Writer<T>,
    outlet: Outlet,
    /// It has given a job back, and has had none since.
    gave_back: bool,
    /// How many attempts there were before, of the job at each position that the worker has.
    attempts: [u32; MOST],
}

/// Where the attempts of the job at this position are.
fn place(position: u64) -> usize {
    (position % MOST as u64) as usize
}

/// A job of an own ring.
fn own<T: Copied>(written: T::Loaded) -> T {
    T::believed(written).expect("what this end has written")
}

impl<T> Half for Outbound<T> {
    #[inline]
    fn end(&mut self) -> &mut End {
        &mut self.outlet.end
    }
}

impl<T: Copied> Party for Outbound<T> {
    type Common = Jobs<T>;

    fn link(socket: OwnedFd, jobs: &Jobs<T>, options: &Options) -> Result<Link, Error> {
        Link::new(socket, Role::Sender, jobs.shape, jobs.credit, options)
    }

    fn new(end: End, jobs: &Jobs<T>) -> Self {
        // SAFETY: the region has a ring of this capacity and shape behind its page, and lives as long as the outlet.
        let writer = unsafe { Writer::with(end.link.own.start().add(RING), jobs.credit, places(&jobs.shape)) };
        Self { writer, outlet: Outlet::of(end, jobs.credit), gave_back: false, attempts: [0; MOST] }
    }

    /// What it has not finished is for others.
    fn gone(&mut self, jobs: &mut Jobs<T>) {
        let before = self.outlet.consumed();
        if self.has() == 0 {
            return;
        }
        if let Some(from) = self.outlet.unread_from(self.writer.position()) {
            self.settle(before, jobs);
            for (position, job) in (from..).zip(self.writer.unread(from)) {
                // It has begun none of the others.
                let attempts = self.attempts[place(position)] + u32::from(position == from);
                jobs.retry(own(job), attempts);
            }
        }
    }
}

impl<T: Copied> Outbound<T> {
    /// How many jobs the worker has, as far as is known.
    fn has(&self) -> u64 {
        self.writer.position() - self.outlet.consumed()
    }

    /// Reads what has become of its jobs; how many more it may have: none, if it is gone or has lied.
    fn refresh(&mut self, jobs: &mut Jobs<T>) -> u64 {
        let before = self.outlet.consumed();
        let credit = self.outlet.refresh(self.writer.position());
        self.settle(before, jobs);
        credit
    }

    /// Of the jobs that it has consumed since this one, those that it has given back wait for others.
    fn settle(&mut self, before: u64, jobs: &mut Jobs<T>) {
        let consumed = self.outlet.consumed();
        let Some(met) = &self.outlet.end.link.met else { return };
        if before == consumed {
            return;
        }
        let given_back = heard(met.region.word(GIVEN_BACK));
        for position in before..consumed {
            if given_back & bit(position) == 0 {
                jobs.finished += 1;
            } else {
                jobs.retry(own(self.writer.written(position)), self.attempts[place(position)] + 1);
                self.gave_back = true;
            }
        }
    }

    fn put(&mut self, job: &T::Written, attempts: u32) {
        self.gave_back = false;
        self.attempts[place(self.writer.position())] = attempts;
        self.writer.write(job);
        self.outlet.end.published();
    }
}

impl Options {
    /// The sender of a work queue that listens at this name; see [`Listener`](crate::Listener). A worker has at most
    /// `credit` jobs at a time, 1 to 64.
    ///
    /// # Errors
    /// As for [`listen`](Self::listen), or a credit that cannot be.
    pub fn work<T: Message>(&self, name: &str, credit: usize) -> Result<WorkSender<T>, Error> {
        WorkSender::new(self, Some(name), credit, 0)
    }

    /// The sender of a work queue without a name, for workers that inherit a [`seat`](WorkSender::seat).
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no memory or no descriptors are left, or a credit that cannot be.
    pub fn work_without_name<T: Message>(&self, credit: usize) -> Result<WorkSender<T>, Error> {
        WorkSender::new(self, None, credit, 0)
    }
}

impl<T: Message> WorkSender<T> {
    /// As [`Options::work`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn bind(name: &str, credit: usize) -> Result<Self, Error> {
        Options::new().work(name, credit)
    }

    /// As [`Options::work_without_name`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn without_name(credit: usize) -> Result<Self, Error> {
        Options::new().work_without_name(credit)
    }

    /// Gives out a job; waits while no worker may have one more, or none is there.
    ///
    /// # Errors
    /// [`Closed`](Error::Closed): no worker is there, and none can come; the job.
    pub fn send(&mut self, job: T) -> Result<(), SendError<T>> {
        self.put_until(&job, None).map_err(|unfulfilled| SendError(job, ended(unfulfilled)))
    }

    /// Gives out a job if a worker may have one more. Never blocks.
    ///
    /// # Errors
    /// None may, or none is there: the job.
    pub fn try_send(&mut self, job: T) -> Result<(), TrySendError<T>> {
        self.try_put(&job).map_err(|over| match over {
            true => TrySendError::Ended(job, Error::Closed),
            false => TrySendError::Full(job),
        })
    }

    /// As [`send`](Self::send), for at most `limit`.
    ///
    /// # Errors
    /// No worker could have it for all that time, or as there: the job.
    pub fn send_timeout(&mut self, job: T, limit: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_until(job, deadline(limit))
    }

    /// As [`send`](Self::send), until `deadline` at most.
    ///
    /// # Errors
    /// As for [`send_timeout`](Self::send_timeout).
    pub fn send_deadline(&mut self, job: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.send_until(job, Some(deadline))
    }

    fn send_until(&mut self, job: T, deadline: Option<Instant>) -> Result<(), SendTimeoutError<T>> {
        self.put_until(&job, deadline).map_err(|unfulfilled| unsent(job, unfulfilled))
    }
}

impl<T: Copied> WorkSender<T> {
    /// `largest`: the most bytes of a job that is bytes.
    pub(super) fn new(options: &Options, name: Option<&str>, credit: usize, largest: usize) -> Result<Self, Error> {
        if !(1..=MOST).contains(&credit) {
            return Err(Error::Refused(Why::Capacity));
        }
        let shape = shape::<T>(options, largest);
        // Before anybody comes.
        region_bytes(&shape, credit)?;
        let (waiting, failed, attempts) = (VecDeque::new(), VecDeque::new(), options.attempts);
        let jobs = Jobs { credit, shape, waiting, finished: 0, attempts, failed };
        Ok(Self { crowd: Crowd::new(options, name, jobs)? })
    }

    /// Makes a place for one more worker: a socket for [`WorkReceiver::from_fd`](crate::WorkReceiver::from_fd), for a
    /// child to inherit. Until that is used, each job costs a system call.
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no memory or no descriptors are left.
    pub fn seat(&mut self) -> Result<OwnedFd, Error> {
        self.numbered_seat().map(|(_, seat)| seat)
    }

    /// As [`seat`](Self::seat), with the worker's number, by which [`next_ended`](Self::next_ended) names it.
    ///
    /// # Errors
    /// As there.
    pub fn numbered_seat(&mut self) -> Result<(u64, OwnedFd), Error> {
        self.crowd.home.seat()
    }

    /// Returns the next worker that has ended since the last time, in order. The last few hundred are remembered. What sends
    /// or waits notices an end.
    pub fn next_ended(&mut self) -> Option<Ended> {
        self.crowd.home.ended.pop_front()
    }

    /// Returns the next job that was given out [as many times as it may be](Options::attempts), and not finished. Nobody gets it
    /// any more. Never blocks.
    pub fn next_failed(&mut self) -> Option<T> {
        self.crowd.home.common.failed.pop_front()
    }

    /// Gives out a job, if a worker may have one more. `Err`: none may; whether none is there, and none can come.
    pub(super) fn try_put(&mut self, job: &T::Written) -> Result<(), bool> {
        let found = self.look().or_else(|| {
            self.crowd.serve(Some(Duration::ZERO));
            self.look()
        });
        match found {
            Some(turn) => self.put(turn, job),
            None => return Err(self.crowd.home.is_over()),
        }
        Ok(())
    }

    /// Gives out a job; waits until a worker may have one more.
    pub(super) fn put_until(&mut self, job: &T::Written, deadline: Option<Instant>) -> Result<(), Unfulfilled> {
        let turn = self.look().map_or_else(|| self.wait(deadline, Self::look), Ok)?;
        self.put(turn, job);
        Ok(())
    }

    fn put(&mut self, turn: usize, job: &T::Written) {
        self.give(turn, job, 0);
        // Last: it runs user code, and a panic must not lose the job.
        self.crowd.serve_if_due();
    }

    /// Gives out the jobs that wait. The turn of the worker that may have a new one.
    fn look(&mut self) -> Option<usize> {
        loop {
            let turn = self.freest();
            let waiting = &mut self.crowd.home.common.waiting;
            let Some((job, attempts)) = waiting.pop_front() else { return turn };
            let Some(turn) = turn else {
                waiting.push_front((job, attempts));
                return None;
            };
            self.give(turn, job.written(), attempts);
        }
    }

    /// The turn of the worker that has the fewest jobs, and may have one more; of two such, the one that has not just given
    /// one back. Drops those that are gone.
    fn freest(&mut self) -> Option<usize> {
        let Home { active, lanes, common, .. } = &mut self.crowd.home;
        let (mut found, mut fewest, mut are_all_there) = (None, (u64::MAX, true), true);
        for (turn, at) in active.iter().enumerate() {
            let Some(lane) = &mut lanes[*at] else { continue };
            let credit = lane.party.refresh(common);
            let has = (lane.party.has(), lane.party.gave_back);
            if credit > 0 && has < fewest {
                (found, fewest) = (Some(turn), has);
            }
            are_all_there &= credit > 0 || lane.party.outlet.end.fate().is_none();
        }
        if are_all_there {
            return found;
        }
        self.crowd.home.sweep();
        self.freest()
    }

    /// The next turns are those of others.
    fn give(&mut self, turn: usize, job: &T::Written, attempts: u32) {
        let Home { active, lanes, .. } = &mut self.crowd.home;
        if let Some(at) = active.remove(turn) {
            active.push_back(at);
            if let Some(lane) = &mut lanes[at] {
                lane.party.put(job, attempts);
            }
        }
    }

    fn wait<R>(
        &mut self,
        deadline: Option<Instant>,
        look: impl FnMut(&mut Self) -> Option<R>,
    ) -> Result<R, Unfulfilled> {
        wait(self, |sender| &mut sender.crowd, deadline, look)
    }

    /// Gives out the jobs that wait; something, when all jobs are finished.
    fn settled(&mut self) -> Option<()> {
        self.look();
        (self.unfinished() == 0).then_some(())
    }

    /// Waits until all jobs that were sent are finished, or have [failed](Self::next_failed). What workers give back meanwhile, it gives to others.
    ///
    /// # Errors
    /// [`Closed`](Error::Closed): some are not finished, no worker is there, and none can come. With a new
    /// [`seat`](Self::seat) it goes on.
    pub fn settle(&mut self) -> Result<(), Error> {
        self.wait(None, Self::settled).map_err(ended)
    }

    /// As [`settle`](Self::settle), without waiting. `None`: some are not finished.
    #[cfg(feature = "tokio")]
    pub(crate) fn try_settle(&mut self) -> Option<Result<(), Error>> {
        let settled = self.settled().map(Ok);
        settled.or_else(|| self.crowd.home.is_over().then_some(Err(Error::Closed)))
    }

    /// As [`settle`](Self::settle), for at most `limit`; returns whether all are finished.
    ///
    /// # Errors
    /// As there.
    pub fn settle_timeout(&mut self, limit: Duration) -> Result<bool, Error> {
        match self.wait(deadline(limit), Self::settled) {
            Ok(()) => Ok(true),
            Err(Unfulfilled::Timeout) => Ok(false),
            Err(Unfulfilled::Ended(error)) => Err(error),
        }
    }

    /// Accepts workers that have come, notices those that have gone, and gives out what was given back. Never blocks.
    pub fn serve(&mut self) {
        self.crowd.serve(Some(Duration::ZERO));
        self.look();
    }

    /// As [`serve`](Self::serve), for the whole `limit`: what a sender without new jobs does instead of sleeping. It
    /// returns before, if no worker is there and none can come.
    pub fn serve_timeout(&mut self, limit: Duration) {
        // Nothing is found.
        let _ = self.wait(deadline(limit), |sender| {
            sender.look();
            None::<()>
        });
    }

    /// Returns how many jobs workers have finished, as far as was noticed: each that was sent is counted once.
    pub fn finished(&self) -> u64 {
        self.crowd.home.common.finished
    }

    /// Returns how many jobs that were sent are not finished, and have not [failed](Self::next_failed), as far as was noticed.
    pub fn unfinished(&self) -> usize {
        let lanes = self.crowd.home.lanes.iter().flatten();
        lanes.map(|lane| lane.party.has() as usize).sum::<usize>() + self.crowd.home.common.waiting.len()
    }

    /// Returns how many workers there are, with those that have not said hello yet.
    pub fn workers(&self) -> usize {
        self.crowd.home.peers()
    }

    /// Sets how many times this end looks at its workers before it sleeps; 0: it sleeps at once. A time limit is
    /// checked only after them.
    pub fn set_spin(&mut self, looks: u32) {
        self.crowd.spin = Some(looks);
    }

    /// For an event loop: if no worker may have one more job, the [descriptor](AsFd::as_fd) becomes readable when one may, or
    /// when a worker comes or goes. False: there is something to be done now; also while no worker is there and none can come.
    ///
    /// A sender with no job to send and [none unfinished](Self::unfinished) does not arm: the descriptor tells of a
    /// worker that comes or goes in any case, and [`serve`](Self::serve) notices it. A loop that must own what it
    /// watches takes a [copy](BorrowedFd::try_clone_to_owned) of the descriptor.
    pub fn arm(&mut self) -> bool {
        self.arm_until(|sender| sender.look().is_some())
    }

    /// As [`arm`](Self::arm), for a sender that has no job to send and waits until all are
    /// [finished](Self::unfinished).
    pub fn arm_to_settle(&mut self) -> bool {
        self.arm_until(|sender| sender.settled().is_some())
    }

    /// As [`arm`](Self::arm), for a sender that has no job to send, and waits for workers and for what they give back, as
    /// [`serve_timeout`](Self::serve_timeout) does.
    pub fn arm_to_serve(&mut self) -> bool {
        self.arm_until(|sender| {
            sender.look();
            false
        })
    }

    /// Returns whether no worker is there, and none can come without a new [`seat`](Self::seat), as far as was noticed.
    pub fn is_disconnected(&self) -> bool {
        self.crowd.home.is_over()
    }

    fn arm_until(&mut self, is_ready: impl FnOnce(&mut Self) -> bool) -> bool {
        let is_armed = self.crowd.arm_all();
        !is_ready(self) && is_armed && !self.crowd.home.is_over()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl<T: Copied> WorkSender<T> {
    /// The own memory of the first lane.
    pub(super) fn first_region(&self) -> &crate::os::Own {
        &self.crowd.home.lanes[0].as_ref().expect("a worker").party.outlet.end.link.own
    }

    /// Why workers have ended.
    pub(crate) fn ended(&mut self) -> Vec<Error> {
        self.crowd.home.ended.drain(..).map(|ended| ended.error).collect()
    }
}

impl<T: Copied> AsFd for WorkSender<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.crowd.home.poller.as_fd()
    }
}

impl<T: Copied> fmt::Debug for WorkSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkSender").field("unfinished", &self.unfinished()).finish_non_exhaustive()
    }
}
