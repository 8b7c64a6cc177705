//! Iterators over the messages of a receiver. Each is a receiver, and a call of it.

use std::fmt;
use std::iter::FusedIterator;

use crate::channel::Receiver;

/// Blocks for each message. Made by [`Receiver::iter`].
pub struct Iter<'a, T>(pub(crate) &'a Receiver<T>);

/// Takes what is there. Made by [`Receiver::try_iter`].
pub struct TryIter<'a, T>(pub(crate) &'a Receiver<T>);

/// Blocks for each message, and has the receiver. Made by its `into_iter`.
pub struct IntoIter<T>(Receiver<T>);

macro_rules! impl_iterator {
    ($iter:ty, $name:literal, $next:ident) => {
        impl<T> Iterator for $iter {
            type Item = T;

            fn next(&mut self) -> Option<T> {
                self.0.$next().ok()
            }
        }

        impl<T> fmt::Debug for $iter {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad($name)
            }
        }
    };
}

impl_iterator!(Iter<'_, T>, "Iter { .. }", recv);
impl_iterator!(TryIter<'_, T>, "TryIter { .. }", try_recv);
impl_iterator!(IntoIter<T>, "IntoIter { .. }", recv);

impl<T> FusedIterator for Iter<'_, T> {}
impl<T> FusedIterator for IntoIter<T> {}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}
