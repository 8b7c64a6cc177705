//! [`Foreign`]: a value that is dropped as a piece of foreign code. The dropping thread only.

use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};

use crate::foreign::Panics;

/// A value of foreign code, such as a handler, that is dropped as a piece of it: behind a panic, its own panic goes no further.
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

impl<V> Drop for Foreign<V> {
    fn drop(&mut self) {
        // SAFETY: once, and nothing uses the value afterwards.
        Panics::in_drop(|| unsafe { ManuallyDrop::drop(&mut self.0) });
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use std::panic::catch_unwind;

    use super::Foreign;

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
}
