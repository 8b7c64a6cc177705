//! Suites that every implementation of a concept must pass, each generic over the implementation.
//!
//! A module per concept names the implementations; a suite never does. Nothing here asserts on time: counts and
//! states only, with a generous guard against hanging.

pub(crate) mod attached;
pub(crate) mod channel;
#[cfg(target_os = "linux")]
pub(crate) mod descriptor;
pub(crate) mod signal;
pub(crate) mod waking;

/// Makes one `#[test]` of each function named, of one suite, for one kind, or for one kind with another.
///
/// A kind is a value: the function is compiled for its type, once, however many capacities there are.
#[macro_export]
macro_rules! tests_of {
    ($($suite:ident)::+, $($kind:expr),+ => $($test:ident),* $(,)?) => {
        $crate::tests_of!(@each [$($suite)::+] [$($kind),+]: $($test),*);
    };
    (@each $suite:tt $kinds:tt: $($test:ident),*) => {
        $($crate::tests_of!(@one $suite $kinds: $test);)*
    };
    (@one [$($suite:ident)::+] [$($kind:expr),+]: $test:ident) => {
        #[test]
        fn $test() {
            $crate::conformance::$($suite)::+::$test($($kind),+);
        }
    };
}
