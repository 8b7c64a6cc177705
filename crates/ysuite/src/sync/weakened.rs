//! The model checker's atomics and fences. One ordering in the source may be weakened: if every model still holds,
//! either a model is missing or the ordering is not needed. `ci/steps/orderings` tests this for each.
//!
//! Set by the environment, once for the process:
//!
//! * `YSUITE_WEAKEN=list`: each ordering that is passed is printed when it is first passed, as `ordering:
//!   FILE:LINE:COLUMN:N ORDER`, where N counts the orderings of one call.
//! * `YSUITE_WEAKEN=FILE:LINE:COLUMN:N=ORDER`: that one is `ORDER` instead, or with `none` the fence or barrier is left
//!   out.
//!
//! In models only. Programs contain no trace of it.

use std::collections::HashSet;
use std::panic::Location;
use std::sync::{Mutex, OnceLock, PoisonError};

pub(crate) use loom::sync::atomic::Ordering;

enum Mode {
    AsWritten,
    /// The orderings that have been printed.
    List(Mutex<HashSet<(&'static str, u32, u32, u8)>>),
    Weaken {
        file: String,
        line: u32,
        column: u32,
        number: u8,
        /// None: left out.
        order: Option<Ordering>,
    },
}

fn mode() -> &'static Mode {
    static MODE: OnceLock<Mode> = OnceLock::new();
    MODE.get_or_init(|| match std::env::var("YSUITE_WEAKEN") {
        Err(_) => Mode::AsWritten,
        Ok(list) if list == "list" => Mode::List(Mutex::default()),
        Ok(one) => {
            parse(&one).unwrap_or_else(|| panic!("YSUITE_WEAKEN is `list` or FILE:LINE:COLUMN:N=ORDER, not {one}"))
        }
    })
}

fn parse(one: &str) -> Option<Mode> {
    let (place, order) = one.split_once('=')?;
    let order = match order {
        "none" => None,
        "Relaxed" => Some(Ordering::Relaxed),
        "Acquire" => Some(Ordering::Acquire),
        "Release" => Some(Ordering::Release),
        "AcqRel" => Some(Ordering::AcqRel),
        _ => return None,
    };
    let mut parts = place.rsplitn(4, ':');
    let number = parts.next()?.parse().ok()?;
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    Some(Mode::Weaken { file: parts.next()?.to_owned(), line, column, number, order })
}

/// The ordering to use at this place, the `number`th one of the call; none where it is left out.
fn at(place: &'static Location<'static>, number: u8, written: Ordering) -> Option<Ordering> {
    match mode() {
        Mode::AsWritten => {}
        Mode::List(told) => {
            let is_new = told.lock().unwrap_or_else(PoisonError::into_inner).insert((
                place.file(),
                place.line(),
                place.column(),
                number,
            ));
            if is_new && written != Ordering::Relaxed {
                println!("ordering: {place}:{number} {written:?}");
            }
        }
        Mode::Weaken { file, line, column, number: wanted, order } => {
            let is_here =
                (place.line(), place.column(), number) == (*line, *column, *wanted) && place.file().ends_with(file);
            if is_here {
                return *order;
            }
        }
    }
    Some(written)
}

/// As [`at`], of an operation that cannot be left out.
fn of(place: &'static Location<'static>, number: u8, written: Ordering) -> Ordering {
    at(place, number, written).unwrap_or(Ordering::Relaxed)
}

/// Whether this barrier is left out. It replaces a full one.
#[track_caller]
pub(crate) fn is_left_out() -> bool {
    at(Location::caller(), 0, Ordering::SeqCst).is_none()
}

#[track_caller]
pub(crate) fn fence(order: Ordering) {
    if let Some(order) = at(Location::caller(), 0, order) {
        loom::sync::atomic::fence(order);
    }
}

macro_rules! atomic {
    ($name:ident $(<$parameter:ident>)?, $value:ty) => {
        #[derive(Debug)]
        pub(crate) struct $name $(<$parameter>)? (loom::sync::atomic::$name $(<$parameter>)?);

        #[allow(dead_code)]
        impl $(<$parameter>)? $name $(<$parameter>)? {
            #[track_caller]
            pub(crate) fn new(value: $value) -> Self {
                Self(loom::sync::atomic::$name::new(value))
            }

            #[track_caller]
            pub(crate) fn load(&self, order: Ordering) -> $value {
                self.0.load(of(Location::caller(), 0, order))
            }

            #[track_caller]
            pub(crate) fn store(&self, value: $value, order: Ordering) {
                self.0.store(value, of(Location::caller(), 0, order));
            }

            #[track_caller]
            pub(crate) fn swap(&self, value: $value, order: Ordering) -> $value {
                self.0.swap(value, of(Location::caller(), 0, order))
            }

            #[track_caller]
            pub(crate) fn fetch_update(
                &self,
                success: Ordering,
                failure: Ordering,
                next: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let place = Location::caller();
                self.0.fetch_update(of(place, 0, success), of(place, 1, failure), next)
            }
        }

        compare_exchanges!($name $(<$parameter>)?, $value, compare_exchange compare_exchange_weak);
    };
}

macro_rules! read_modify_writes {
    ($name:ident, $value:ty, $($operation:ident)*) => {
        #[allow(dead_code)]
        impl $name {
            $(
                #[track_caller]
                pub(crate) fn $operation(&self, value: $value, order: Ordering) -> $value {
                    self.0.$operation(value, of(Location::caller(), 0, order))
                }
            )*
        }
    };
}

macro_rules! compare_exchanges {
    ($name:ident $(<$parameter:ident>)?, $value:ty, $($operation:ident)*) => {
        #[allow(dead_code)]
        impl $(<$parameter>)? $name $(<$parameter>)? {
            $(
                #[track_caller]
                pub(crate) fn $operation(
                    &self,
                    current: $value,
                    new: $value,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$value, $value> {
                    let place = Location::caller();
                    self.0.$operation(current, new, of(place, 0, success), of(place, 1, failure))
                }
            )*
        }
    };
}

macro_rules! owned {
    ($name:ident $(<$parameter:ident>)?, $value:ty) => {
        #[allow(dead_code)]
        impl $(<$parameter>)? $name $(<$parameter>)? {
            #[track_caller]
            pub(crate) fn with_mut<R>(&mut self, f: impl FnOnce(&mut $value) -> R) -> R {
                self.0.with_mut(f)
            }
        }
    };
}

macro_rules! integer {
    ($name:ident, $value:ty) => {
        atomic!($name, $value);
        owned!($name, $value);
        read_modify_writes!($name, $value, fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_max fetch_min);

        impl Default for $name {
            fn default() -> Self {
                Self::new(0)
            }
        }
    };
}

integer!(AtomicI32, i32);
integer!(AtomicU8, u8);
integer!(AtomicU16, u16);
integer!(AtomicU32, u32);
integer!(AtomicU64, u64);
integer!(AtomicUsize, usize);
atomic!(AtomicPtr<T>, *mut T);
owned!(AtomicPtr<T>, *mut T);
atomic!(AtomicBool, bool);
read_modify_writes!(AtomicBool, bool, fetch_and fetch_or fetch_xor);

impl Default for AtomicBool {
    fn default() -> Self {
        Self::new(false)
    }
}

impl<T> Default for AtomicPtr<T> {
    fn default() -> Self {
        Self::new(core::ptr::null_mut())
    }
}
