//! Where a [`select`] begins.

use core::marker::PhantomData;

use super::Selecting;
use super::case::NoCase;

/// Starts a list of operations, of which the first possible one is performed. Add them, each with a function for its
/// result, and wait.
///
/// ```
/// use std::time::Duration;
/// use ysuite::{mpmc, spsc};
///
/// let (mut numbers, mut numbers_in) = spsc::unbounded();
/// let (words, words_in) = mpmc::bounded(8);
/// numbers.send(7)?;
///
/// let heard = ysuite::select()
///     .recv(&mut numbers_in, |number| format!("{}", number.unwrap()))
///     .recv(&words_in, |word: Result<String, _>| word.unwrap())
///     .after(Duration::from_secs(1), || "nothing".to_owned())
///     .wait();
/// assert_eq!(heard, "7");
/// # words.send(String::new())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// * All operations are tried first, starting at a random one and in a random order ([`biased`](Selecting::biased): in
///   theirs), without registering anywhere. Then nothing is allocated, and the only system calls wake a thread of the other side. Only where none is possible does
///   the thread register with all of them and sleep.
/// * Exactly one is performed. The others have changed nothing: no message is taken. A message that was to be sent is
///   dropped after the function has run, or stays in its place if it was given by [`send_from`](Selecting::send_from).
/// * An operation whose other side has disconnected is possible: its function gets the error.
/// * Receivers and senders of one thread are borrowed mutably. Those of an `mpmc` are borrowed by shared reference;
///   other threads may use them meanwhile, and they may appear in several operations. A handle that is attached to a
///   set stays attached.
/// * In a rendezvous (`bounded(0)`) a select that sleeps waits as `send` and `recv` do, in all its operations at once,
///   also for another select on the other side. It never completes with itself.
/// * Without any operation, or only with empty places of [`send_from`](Selecting::send_from), no operation is ever
///   possible: [`wait`](Selecting::wait) never returns, the others return `None`.
/// * The functions run after everything else: they may use `select` again, and may panic.
///
/// Operations that are known only when the program runs stand in a [list](crate::select::list). For a loop over many
/// receivers that stay the same a [`ReadySet`](crate::signal::ReadySet) is faster when it sleeps: it stays registered.
#[doc(alias("select!", "Selector", "choose"))]
#[must_use = "nothing is done before `wait`"]
pub fn select<R>() -> Selecting<NoCase, R> {
    Selecting { cases: NoCase, is_biased: false, result: PhantomData }
}
