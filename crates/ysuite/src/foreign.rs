//! [`Panics`]: runs several pieces of user code, all of them even if some panic, and then resumes the first panic.
//! [`Foreign`]: a value whose drop is such a piece.
//!
//! No `Drop` of the library panics by itself. If it runs user code that panics, it does everything else before that or
//! afterwards.
//!
//! The calling thread only.

use core::any::Any;
use core::fmt;
use core::marker::PhantomData;
use core::mem::{self, ManuallyDrop, MaybeUninit};
use core::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

// USER CODE: a list of pieces: drops of messages, wakers; the caller has taken out of its own state what the pieces
//     work on; re-entrance: each piece is independent; panic: all pieces run, then the first panic is resumed; none is
//     resumed while unwinding; test: src/foreign.rs: the_first_of_several_panics_goes_on_when_all_is_done,
//     src/foreign.rs: a_panic_behind_a_panic_goes_no_further
/// The first panic of several pieces of user code. Dropping this resumes it.
pub(crate) struct Panics(ManuallyDrop<Option<Box<dyn Any + Send>>>);

impl Panics {
    pub(crate) const fn none() -> Self {
        Self(ManuallyDrop::new(None))
    }

    /// Runs a piece, even if pieces before it have panicked. The caller ensures that what the piece works on is
    /// consistent, or not used again, wherever it panics.
    #[inline]
    pub(crate) fn catch(&mut self, piece: impl FnOnce()) {
        let mut piece = ManuallyDrop::new(piece);
        self.run(ForeignCall::new(&mut piece));
    }

    /// Compiled once: what catches a panic is a hundred lines for the code generator, and there are dozens of pieces
    /// for each type of message.
    #[inline(never)]
    fn run(&mut self, piece: ForeignCall<'_>) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| piece.run())) {
            // Only one can be resumed. The texts of the others were printed; their drop would be user code again.
            match *self.0 {
                None => *self.0 = Some(panic),
                Some(_) => mem::forget(panic),
            }
        }
    }

    // MUTANT: Speed only: a caught panic resumes at the end of the function. Killed only by
    // `a_value_that_panics_behind_a_panic_is_one_panic`.
    /// Runs the one piece of a drop: where the thread unwinds already its panic goes no further.
    #[inline]
    pub(crate) fn in_drop(piece: impl FnOnce()) {
        let mut piece = ManuallyDrop::new(piece);
        if thread::panicking() {
            return run_in_unwinding(ForeignCall::new(&mut piece));
        }
        ManuallyDrop::into_inner(piece)();
    }

    // USER CODE: `Drop` of a result that the caller does not get, because of a panic; all pieces have run; panic:
    //     counts as one more piece. Of several messages in one vector only one may panic, as everywhere in Rust; test:
    //     tests/suite/disposing.rs: to_a_pipe_behind_a_waker_that_panics
    // MUTANT: Speed only: a caught panic resumes at the end of the function. Killed only by
    // `a_destructor_gets_its_answer_though_a_piece_has_panicked`.
    /// The result, if no piece has panicked. Otherwise its drop, which is user code too, is one more piece, and then
    /// the first panic continues.
    pub(crate) fn answer<A>(self, answer: A) -> A {
        match self.some() {
            None => answer,
            Some(panics) => panics.resume_behind(answer),
        }
    }

    /// The panic that is to continue, if there is one.
    pub(crate) fn some(self) -> Option<Self> {
        // A destructor that the thread runs as it unwinds also requests results, and may not panic.
        if self.0.is_some() && !thread::panicking() { Some(self) } else { None }
    }

    /// Continues the first panic. The result that the caller does not get is dropped before that, as one more piece.
    pub(crate) fn resume_behind<A>(mut self, answer: A) -> ! {
        self.catch(|| drop(answer));
        match self.0.take() {
            Some(panic) => resume_unwind(panic),
            None => unreachable!("what has panicked is kept"),
        }
    }

    /// The result, when the piece has run; see [`answer`](Self::answer).
    #[inline]
    pub(crate) fn answer_behind<A>(answer: A, piece: impl FnOnce()) -> A {
        if !mem::needs_drop::<A>() {
            piece();
            return answer;
        }
        let mut panics = Self::none();
        panics.catch(piece);
        panics.answer(answer)
    }

    /// As [`answer_behind`](Self::answer_behind), where only the error has something to drop.
    #[inline]
    pub(crate) fn result_behind<E>(outcome: Result<usize, E>, piece: impl FnOnce()) -> Result<usize, E> {
        match outcome {
            Ok(number) => {
                piece();
                Ok(number)
            }
            Err(error) => Err(Self::answer_behind(error, piece)),
        }
    }

    /// Resumes nothing: for the end of a thread, where a panic would abort the process.
    pub(crate) fn end_here(mut self) {
        mem::forget(self.0.take());
    }
}

/// The panic of the piece goes no further. Compiled once.
#[cold]
#[inline(never)]
fn run_in_unwinding(piece: ForeignCall<'_>) {
    Panics::none().run(piece);
}

/// A closure of any type, that is called once. Not a `dyn FnMut`, whose table has two functions more, and three
/// relocations.
struct ForeignCall<'p> {
    closure: *mut (),
    /// Calls it.
    call: unsafe fn(*mut ()),
    of: PhantomData<&'p mut ()>,
}

impl<'p> ForeignCall<'p> {
    /// The closure is moved out when this runs, and stays where it is otherwise.
    #[inline]
    fn new<P: FnOnce()>(closure: &'p mut ManuallyDrop<P>) -> Self {
        /// # Safety
        /// `closure` is one of type `P`, which nothing else calls or drops.
        unsafe fn call<P: FnOnce()>(closure: *mut ()) {
            // SAFETY: by the caller.
            unsafe { (closure.cast::<P>().read())() }
        }
        Self { closure: (&raw mut *closure).cast(), call: call::<P>, of: PhantomData }
    }

    fn run(self) {
        // SAFETY: of this type, by `new`. It is moved out here alone, as this runs once, and nothing drops it.
        unsafe { (self.call)(self.closure) };
    }
}

impl Drop for Panics {
    // MUTANT: Speed only: a caught panic resumes at the end of the function. Killed only by
    // `the_first_of_several_panics_goes_on_when_all_is_done`.
    #[inline(never)]
    fn drop(&mut self) {
        match self.0.take() {
            None => {}
            // Two panics at once would abort the process.
            Some(panic) if thread::panicking() => mem::forget(panic),
            Some(panic) => resume_unwind(panic),
        }
    }
}

/// A value of user code, such as a handler, that is dropped as a piece of it: while unwinding, its own panic goes no
/// further.
pub(crate) struct Foreign<V>(ManuallyDrop<V>);

impl<V> Foreign<V> {
    pub(crate) fn new(value: V) -> Self {
        Self(ManuallyDrop::new(value))
    }

    pub(crate) fn into_inner(self) -> V {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: once; `this` is not dropped.
        unsafe { ManuallyDrop::take(&mut this.0) }
    }
}

impl<T> Foreign<Option<T>> {
    /// A place in the frame of the call that receives a message: see [`Lent`].
    #[inline]
    pub(crate) const fn none() -> Self {
        Self(ManuallyDrop::new(None))
    }

    /// A message in the frame of the call that sends it: see [`Lent`].
    #[inline]
    pub(crate) fn some(message: T) -> Self {
        Self(ManuallyDrop::new(Some(message)))
    }
}

impl<V> Deref for Foreign<V> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.0
    }
}

impl<V> DerefMut for Foreign<V> {
    fn deref_mut(&mut self) -> &mut V {
        &mut self.0
    }
}

// USER CODE: `Drop` of a handler's captures, of cases of a `select()` that were not chosen, of a watched source, of a
//     repeating timer's function; the receiver or source is dropped, or taken out; re-entrance: as of the caller that
//     drops it; panic: propagates, unless the thread unwinds already; test: tests/suite/hub/panics.rs:
//     a_receiver_or_descriptor_and_its_handler_that_both_panic_are_one_panic, tests/suite/hub/panics.rs:
//     a_handler_that_panics_and_its_end_that_panics_too_are_one_panic
impl<V> Drop for Foreign<V> {
    // MUTANT: Speed only: a value without a drop is dropped by an empty function. Killed only by
    // `a_value_that_panics_behind_a_panic_is_one_panic`.
    #[inline]
    fn drop(&mut self) {
        if mem::needs_drop::<V>() {
            // SAFETY: once, and nothing uses the value afterwards.
            Panics::in_drop(|| unsafe { ManuallyDrop::drop(&mut self.0) });
        }
    }
}

/// The place of a message, lent to what sends it, or to what receives one into it. The outermost call has the place in
/// its frame, in a [`Foreign`] where user code may run meanwhile. A message that is passed on by value is copied in each
/// frame of an unoptimised program, and a large message needs a large stack then.
pub(crate) trait Lent<T> {
    /// Moves the message out.
    fn take_out(&mut self) -> T;
    /// Moves the message to another place.
    ///
    /// # Safety
    /// `to` is valid for a write, and what is there needs no drop.
    unsafe fn move_to(&mut self, to: *mut T);
    /// Moves the message, if there is one, to another place, which is empty.
    fn move_over(&mut self, to: &mut Self);
    /// As [`move_to`](Self::move_to), for a place that is only dropped afterwards: without a check, and without a note
    /// where the message needs no drop.
    ///
    /// # Safety
    /// As of [`move_to`](Self::move_to), and there is a message. Nothing but a drop uses this place afterwards.
    unsafe fn leave_to(&mut self, to: *mut T);
}

impl<T> Lent<T> for Option<T> {
    #[inline(always)]
    fn take_out(&mut self) -> T {
        let place: *mut Self = self;
        let _emptied = Emptied(place);
        // SAFETY: the place is valid, and used by this thread alone. The message is read once: the place is empty
        //     afterwards, and nothing reads it before.
        unsafe { core::ptr::read(there(&*place)) }
    }

    #[inline(always)]
    unsafe fn move_to(&mut self, to: *mut T) {
        // SAFETY: by the caller. The message is read once: the place is empty afterwards. It is in another place than
        //     `to`, which holds no message.
        unsafe { to.copy_from_nonoverlapping(there(self), 1) };
        empty(self);
    }

    #[inline(always)]
    unsafe fn leave_to(&mut self, to: *mut T) {
        // SAFETY: by the caller. The message is read once, and not dropped here.
        unsafe { copy_fresh(self.as_ref().unwrap_unchecked(), to) };
        if mem::needs_drop::<T>() {
            empty(self);
        }
    }

    #[inline]
    fn move_over(&mut self, to: &mut Self) {
        assert!(to.is_none(), "a message is there already");
        // SAFETY: two places, as both are borrowed mutably. The message is read once: the first place is empty
        //     afterwards, and the other was.
        unsafe { core::ptr::from_mut(to).copy_from_nonoverlapping(self, 1) };
        empty(self);
    }
}

/// Messages of up to this many words are copied word by word.
const FEW_WORDS: usize = 16;

/// Copies a message that may have been written a moment ago, such as that in a future that is polled at once. It is
/// copied word by word, and not by wider loads: a load that is wider than the stores before it waits until these are in
/// the cache, for some forty cycles.
///
/// # Safety
/// As of [`copy_nonoverlapping`](core::ptr::copy_nonoverlapping), of one message.
#[inline(always)]
unsafe fn copy_fresh<T>(from: *const T, to: *mut T) {
    type Word = MaybeUninit<usize>;
    let words = const {
        if align_of::<T>() >= align_of::<Word>() && size_of::<T>() > 2 * size_of::<Word>() {
            size_of::<T>() / size_of::<Word>()
        } else {
            0
        }
    };
    if words == 0 || words > FEW_WORDS {
        // SAFETY: by the caller.
        return unsafe { to.copy_from_nonoverlapping(from, 1) };
    }
    let (from, to) = (from.cast::<Word>(), to.cast::<Word>());
    for word in 0..words {
        // Volatile, so that the compiler does not make wider ones of several.
        // SAFETY: by the caller; a message of such an alignment consists of words.
        unsafe { to.add(word).write(from.add(word).read_volatile()) };
    }
}

/// A place of the calling frame, whose message is dropped as a piece of user code: as a [`Foreign`], and without a copy of
/// the place.
pub(crate) struct Guarded<'a, T>(pub(crate) &'a mut Option<T>);

impl<T> Guarded<'_, T> {
    /// No user code runs any more: the message stays in its place.
    #[inline(always)]
    pub(crate) fn keep(self) {
        mem::forget(self);
    }
}

impl<T> Deref for Guarded<'_, T> {
    type Target = Option<T>;

    fn deref(&self) -> &Option<T> {
        self.0
    }
}

impl<T> DerefMut for Guarded<'_, T> {
    fn deref_mut(&mut self) -> &mut Option<T> {
        self.0
    }
}

// USER CODE: `Drop` of a message that was received and that no caller gets, because a waker panics; it is a local's;
//     re-entrance: any operation; panic: while unwinding it goes no further; test: tests/suite/rendezvous/foreign.rs:
//     a_receiver_whose_passing_on_panics_leaks_no_message
impl<T> Drop for Guarded<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if mem::needs_drop::<T>() && self.0.is_some() {
            Panics::in_drop(|| drop(self.0.take()));
        }
    }
}

/// Empties a place when it is dropped: when its message has been read.
struct Emptied<T>(*mut Option<T>);

// USER CODE: none (the place is empty, and its message another's)
impl<T> Drop for Emptied<T> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: `take_out` keeps the place, which it has borrowed, and uses it no more.
        empty(unsafe { &mut *self.0 });
    }
}

/// The message that is in a place.
#[inline(always)]
fn there<T>(place: &Option<T>) -> &T {
    place.as_ref().expect("the message is there")
}

/// The message has been moved out of its place.
#[inline(always)]
fn empty<T>(place: &mut Option<T>) {
    // SAFETY: valid, and the message that was there is not dropped here.
    unsafe { core::ptr::write(place, None) };
}

impl<V: fmt::Debug> fmt::Debug for Foreign<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::{Foreign, Panics};

    /// Claim: Of several panics the first continues, after everything else is done. None starts while unwinding.
    #[test]
    fn the_first_of_several_panics_goes_on_when_all_is_done() {
        let mut done = 0;
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let mut panics = Panics::none();
            for piece in 0..5 {
                panics.catch(|| {
                    done += 1;
                    assert!(piece % 2 == 0, "piece {piece}");
                });
            }
        }));
        assert_eq!(done, 5);
        assert_eq!(caught.unwrap_err().downcast_ref::<String>().unwrap(), "piece 1");
    }

    #[test]
    fn a_panic_behind_a_panic_goes_no_further() {
        struct Late;
        impl Drop for Late {
            fn drop(&mut self) {
                Panics::none().catch(|| panic!("in a drop"));
            }
        }
        let caught = catch_unwind(|| {
            let _late = Late;
            panic!("first");
        });
        assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"first"));
    }

    #[test]
    fn an_answer_that_nobody_gets_is_a_piece_too() {
        struct Ends;
        impl Drop for Ends {
            fn drop(&mut self) {
                panic!("the result's drop panics");
            }
        }
        let caught = catch_unwind(|| {
            let mut panics = Panics::none();
            panics.catch(|| panic!("first"));
            core::mem::forget(panics.answer(Ends));
        });
        assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"first"));
        assert_eq!(Panics::none().answer(7), 7);
    }

    #[test]
    fn a_destructor_gets_its_answer_though_a_piece_has_panicked() {
        struct Asks<'a>(&'a mut i32);
        impl Drop for Asks<'_> {
            fn drop(&mut self) {
                *self.0 = *Panics::answer_behind(Box::new(8), || panic!("second"));
            }
        }
        let mut answer = 0;
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _asks = Asks(&mut answer);
            panic!("first");
        }));
        assert_eq!((caught.unwrap_err().downcast_ref::<&str>(), answer), (Some(&"first"), 8));
    }

    #[test]
    fn a_value_that_panics_behind_a_panic_is_one_panic() {
        struct Ends(&'static str);
        impl Drop for Ends {
            fn drop(&mut self) {
                panic!("{}", self.0);
            }
        }
        let ended = |first: bool| {
            let caught = catch_unwind(|| {
                let value = Foreign::new(Ends("second"));
                assert!(!first && value.0.0 == "second", "first");
            });
            caught.unwrap_err().downcast_ref::<&str>().copied().map(str::to_owned)
        };
        assert_eq!(ended(true).as_deref(), Some("first"));
        assert!(catch_unwind(|| drop(Foreign::new(Ends("alone")))).is_err());
        core::mem::forget(Foreign::new(Ends("taken")).into_inner());
    }

    #[test]
    fn a_panic_that_is_to_end_here_goes_no_further() {
        let mut panics = Panics::none();
        panics.catch(|| panic!("as the test wants it"));
        panics.end_here();
    }
}
