//! The part of loom that our models and the library under them use, made of shuttle: threads are switched at every operation
//! of what is here, as a random scheduler says, or one that counts preemptions (PCT).
//!
//! Every atomic is sequentially consistent here, with any ordering. So this finds wake-ups that are lost and steps in
//! the wrong order, with more threads and longer ones than loom can finish. It finds no ordering that is too weak: loom does.

pub use shuttle::{future, hint, lazy_static, thread, thread_local};

pub mod sync {
    pub use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

    /// A notice that one thread waits for.
    #[derive(Debug, Default)]
    pub struct Notify {
        is_up: Mutex<bool>,
        changed: Condvar,
    }

    impl Notify {
        #[must_use]
        pub fn new() -> Self {
            Self::default()
        }

        pub fn notify(&self) {
            *self.is_up.lock().expect("no model panics while it holds this lock") = true;
            self.changed.notify_all();
        }

        pub fn wait(&self) {
            let mut is_up = self.is_up.lock().expect("no model panics while it holds this lock");
            while !*is_up {
                is_up = self.changed.wait(is_up).expect("no model panics while it holds this lock");
            }
            *is_up = false;
        }
    }

    pub mod atomic {
        pub use shuttle::sync::atomic::{Ordering, fence};

        macro_rules! with_mut {
            ($($name:ident $(<$parameter:ident>)? of $value:ty),*) => {$(
                #[derive(Debug)]
                pub struct $name $(<$parameter>)? (shuttle::sync::atomic::$name $(<$parameter>)?);

                impl $(<$parameter>)? $name $(<$parameter>)? {
                    pub const fn new(value: $value) -> Self {
                        Self(shuttle::sync::atomic::$name::new(value))
                    }

                    pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $value) -> R) -> R {
                        f(self.0.get_mut())
                    }
                }

                impl $(<$parameter>)? core::ops::Deref for $name $(<$parameter>)? {
                    type Target = shuttle::sync::atomic::$name $(<$parameter>)?;

                    fn deref(&self) -> &Self::Target {
                        &self.0
                    }
                }
            )*};
        }

        with_mut!(
            AtomicBool of bool, AtomicI32 of i32, AtomicU8 of u8, AtomicU32 of u32, AtomicU64 of u64, AtomicUsize of usize,
            AtomicPtr<T> of *mut T
        );
    }
}

pub mod cell {
    /// Memory that an algorithm keeps for one writer, or for readers, at a time.
    #[derive(Debug, Default)]
    pub struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub const fn new(value: T) -> Self {
            Self(core::cell::UnsafeCell::new(value))
        }

        pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}

pub mod model {
    use shuttle::scheduler::{PctScheduler, RandomScheduler};
    use shuttle::{Config, Runner};

    /// How often a model is run, and how. With `YSUITE_REPLAY`, once, by the schedule that a failure has printed; else
    /// `YSUITE_SCHEDULES` times, half of them at random, half with as many preemptions as loom would try, and one more.
    #[derive(Debug, Default)]
    pub struct Builder {
        pub preemption_bound: Option<usize>,
        pub max_branches: usize,
    }

    impl Builder {
        #[must_use]
        pub fn new() -> Self {
            Self::default()
        }

        pub fn check(&self, model: impl Fn() + Sync + Send + 'static) {
            if let Ok(schedule) = std::env::var("YSUITE_REPLAY") {
                return shuttle::replay(model, &schedule);
            }
            let schedules = std::env::var("YSUITE_SCHEDULES").map_or(100, |number| number.parse().expect("a number"));
            let half = usize::max(schedules / 2, 1);
            let mut config = Config::new();
            // Of a debug build, too.
            config.stack_size = 1 << 18;
            let model = std::sync::Arc::new(model);
            let again = model.clone();
            Runner::new(RandomScheduler::new(half), config.clone()).run(move || again());
            let preemptions = self.preemption_bound.unwrap_or(2) + 1;
            Runner::new(PctScheduler::new(preemptions, half), config).run(move || model());
        }
    }
}
