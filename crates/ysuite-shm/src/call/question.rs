//! The receiver's end: a question in its hand, and what the answers of one caller need.

use core::fmt;
use core::ops::Deref;
use core::ptr::NonNull;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{answering, asking, closes, opens};
use crate::end::{End, Half};
use crate::funnel::Laned;
use crate::link::{Link, Ringer};
use crate::nap::Waker;
use crate::page::{ASLEEP, FENCED, RING, Role, Shape};
use crate::pipe::{Inlet, TypedInlet};
use crate::ring::Look;
use crate::ring::answers::Places;
use crate::ring::bytes::counted_room;
use crate::ring::typed::{Numbered, Slotted};
use crate::sync::AtomicU64;
use crate::{Bytes, Carried, Copied, Error, Message, Options, os};

/// A question of a [`Caller`](crate::Caller), which waits for its answer. A [`Funnel`](crate::Funnel) of questions
/// receives it.
///
/// It may be answered at any time, in any order, by any thread of the process. One that is dropped tells its caller so
/// ([`Unanswered`](crate::CallError::Unanswered)). If its caller has given up, or died, or the funnel was dropped,
/// the answer reaches nobody. One that is forgotten (`mem::forget`) leaves its caller waiting, as long as the funnel is there.
///
/// A [caller](crate::Caller) has at most as many questions without an answer as both ends [allow](Options::calls). One that is
/// dead leaves those that it had asked before.
pub struct Question<Q: Copied, A: Copied> {
    message: Q,
    number: u64,
    /// `None`: it was answered.
    answers: Option<Arc<Answers<A>>>,
}

impl<Q: Copied, A: Message> Question<Q, A> {
    /// Answers the question; the caller, if it waits, is woken. Blocks only while another thread gives an answer to the
    /// same caller.
    pub fn answer(self, answer: A) {
        self.put(&answer);
    }
}

impl<Q: Copied> Question<Q, Bytes> {
    /// Returns the most bytes that the answer may have; [`Options::largest_answer`] sets it.
    pub fn largest(&self) -> usize {
        self.answers.as_ref().map_or(0, |answers| counted_room(answers.size))
    }

    /// Answers the question by bytes; otherwise as one that is answered by a message.
    ///
    /// # Panics
    /// If the answer is longer than [`largest`](Self::largest); its caller is told that the question is dropped.
    pub fn answer(self, answer: &[u8]) {
        assert!(answer.len() <= self.largest(), "an answer of more bytes than have room");
        self.put(answer);
    }
}

impl<Q: Copied, A: Copied> Question<Q, A> {
    fn put(mut self, answer: &A::Written) {
        if let Some(answers) = self.answers.take() {
            answers.put(self.number, Some(answer));
        }
    }
}

impl<Q: Copied, A: Copied> Deref for Question<Q, A> {
    type Target = Q;

    fn deref(&self) -> &Q {
        &self.message
    }
}

impl<Q: Copied, A: Copied> Drop for Question<Q, A> {
    fn drop(&mut self) {
        // A forked child that drops its copy of a question has not answered it.
        if let Some(answers) = self.answers.take().filter(|answers| answers.process == os::process()) {
            answers.put(self.number, None);
        }
    }
}

impl<Q: Copied + fmt::Debug, A: Copied> fmt::Debug for Question<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Question").field(&self.message).finish()
    }
}

/// The answers to one caller, which its questions share.
struct Answers<A: Copied> {
    /// Questions without an answer, and how many there may be.
    open: AtomicU64,
    most: u64,
    /// The bytes of one.
    size: usize,
    /// The process that has received them: a forked child has the memory no more.
    process: u32,
    /// `None`: the lane is gone.
    lane: Mutex<Option<Outward<A>>>,
}

/// What publishes them, in memory that the lane's end owns.
struct Outward<A> {
    places: Places<A>,
    waker: Waker,
    fenced: NonNull<AtomicU64>,
    /// The caller's word.
    asleep: NonNull<AtomicU64>,
    bell: Ringer,
}

// SAFETY: the addresses are of words in mappings, used by atomics only.
unsafe impl<A: Send> Send for Outward<A> {}

impl<A: Copied> Answers<A> {
    /// The caller was met.
    fn of(end: &End) -> Option<Self> {
        let (own, met) = (&end.link.own, end.link.met.as_ref()?);
        let (most, size) = (end.link.capacity.min(met.header.capacity), end.link.shape.size);
        // SAFETY: the own region has `capacity` places behind its page; `QuestionInlet` takes all of this back before it
        // drops the end, which owns it.
        let places = unsafe { Places::new(own.start().add(RING), most, size) };
        let bell = end.link.ringer()?;
        let mut waker = Waker::new();
        if os::register() && !met.header.needs_fences {
            waker.may_give_up_fences();
        }
        let (fenced, asleep) = (NonNull::from(own.word(FENCED)), NonNull::from(met.region.word(ASLEEP)));
        let outward = Outward { places, waker, fenced, asleep, bell };
        let (open, process, lane) = (AtomicU64::new(0), os::process(), Mutex::new(Some(outward)));
        Some(Self { open, most: most as u64, size, process, lane })
    }

    fn put(&self, number: u64, answer: Option<&A::Written>) {
        closes(&self.open);
        if let Some(outward) = self.lock().as_mut() {
            outward.put(number, answer);
        }
    }

    /// Nothing panics under it.
    fn lock(&self) -> MutexGuard<'_, Option<Outward<A>>> {
        self.lane.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A: Slotted> Outward<A> {
    fn put(&mut self, number: u64, answer: Option<&A::Written>) {
        self.places.put(number, answer);
        // SAFETY: words of mappings that the lane's end owns, which is there; used by atomics only.
        let (fenced, asleep) = unsafe { (self.fenced.as_ref(), self.asleep.as_ref()) };
        if self.waker.must_attend(asleep) && self.waker.attend(fenced, asleep) {
            self.bell.ring();
        }
    }
}

/// The receiver's end of a lane of questions.
pub(crate) struct QuestionInlet<Q: Copied, A: Copied> {
    inlet: TypedInlet<Numbered<Q>>,
    answers: Option<Arc<Answers<A>>>,
}

impl<Q: Copied, A: Copied> Drop for QuestionInlet<Q, A> {
    fn drop(&mut self) {
        // A forked child has nothing to take back, and another thread of its parent may have had the lock.
        if let Some(answers) = self.answers.take().filter(|answers| answers.process == os::process()) {
            *answers.lock() = None;
        }
    }
}

impl<Q: Copied, A: Copied> Half for QuestionInlet<Q, A> {
    fn end(&mut self) -> &mut End {
        self.inlet.end()
    }
}

impl<Q: Copied, A: Copied> Inlet for QuestionInlet<Q, A> {
    fn attach(&mut self) {
        self.inlet.attach();
    }

    fn detach(&mut self) {
        self.inlet.detach();
    }

    fn stand_off(&mut self) -> bool {
        self.inlet.stand_off()
    }

    #[inline(always)]
    fn look_in(&mut self) -> Look {
        self.inlet.look_in()
    }
}

impl<Q: Copied, A: Copied> Laned for Question<Q, A> {
    type Inlet = QuestionInlet<Q, A>;

    fn link(socket: OwnedFd, options: &Options) -> Result<Link, Error> {
        let shapes = [answering::<A>(options, options.largest_answer), Self::shape(options)];
        Link::mutual(socket, Role::Receiver, shapes, options.calls, options)
    }

    fn shape(options: &Options) -> Shape {
        asking::<Q>(options, 0)
    }

    fn inlet(end: End) -> QuestionInlet<Q, A> {
        QuestionInlet { inlet: TypedInlet::new(end), answers: None }
    }

    fn take(inlet: &mut QuestionInlet<Q, A>) -> Option<Self> {
        if inlet.answers.is_none() {
            inlet.answers = Answers::of(inlet.inlet.end()).map(Arc::new);
        }
        let answers = Arc::clone(inlet.answers.as_ref()?);
        if !opens(&answers.open, answers.most) {
            return None;
        }
        let Numbered { number, message } = inlet.inlet.take_quietly();
        Some(Self { message: Q::believed(message)?, number, answers: Some(answers) })
    }
}

impl<Q: Copied, A: Copied> Carried for Question<Q, A> {}
