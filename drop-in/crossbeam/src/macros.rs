//! The macros. Each case becomes a variable of its own, by the rule that every step of a macro has names of its own.
//! There is no limit to the number of cases but the compiler's limit of recursion.
//!
//! The ends are borrowed until the case is chosen. All cases are dropped before the body runs, so that it may change
//! what the ends were borrowed from.

/// Performs one of several operations: `recv(receiver) -> result => body`, `send(sender, message) -> result => body`,
/// and possibly `default => body` or `default(timeout) => body`. A message is made only when its send is chosen. Where
/// several are possible, a random one is performed.
///
/// ```
/// use ysuite_crossbeam::{select, unbounded};
///
/// let (numbers, numbers_in) = unbounded();
/// let (words, words_in) = unbounded::<String>();
/// numbers.send(7).unwrap();
/// let got = select! {
///     recv(numbers_in) -> number => number.unwrap(),
///     recv(words_in) -> word => word.unwrap().len(),
///     default => 0,
/// };
/// assert_eq!(got, 7);
/// ```
#[macro_export]
macro_rules! select {
    ($($tokens:tt)*) => {{
        const _IS_BIASED: bool = false;
        $crate::crossbeam_channel_internal!($($tokens)*)
    }};
}

/// As [`select`], with the first of those that are possible.
#[macro_export]
macro_rules! select_biased {
    ($($tokens:tt)*) => {{
        const _IS_BIASED: bool = true;
        $crate::crossbeam_channel_internal!($($tokens)*)
    }};
}

/// Both. It has this name because a test of the original calls it.
#[doc(hidden)]
#[macro_export]
macro_rules! crossbeam_channel_internal {
    // Reads one case after the other: `@read [cases] [default] rest`. A body is a block, or ends with a comma.
    (@read $cases:tt $default:tt) => {
        $crate::crossbeam_channel_internal!(@open $cases [] $default)
    };
    (@read [$($cases:tt)*] $default:tt
        recv($end:expr $(,)?) -> $result:pat => $body:block $(, $($rest:tt)*)?) => {
        $crate::crossbeam_channel_internal!(@read [$($cases)* {recv ($end) ($result) ($body)}] $default $($($rest)*)?)
    };
    (@read [$($cases:tt)*] $default:tt
        recv($end:expr $(,)?) -> $result:pat => $body:block $($rest:tt)*) => {
        $crate::crossbeam_channel_internal!(@read [$($cases)* {recv ($end) ($result) ($body)}] $default $($rest)*)
    };
    (@read [$($cases:tt)*] $default:tt
        recv($end:expr $(,)?) -> $result:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::crossbeam_channel_internal!(@read [$($cases)* {recv ($end) ($result) ($body)}] $default $($($rest)*)?)
    };
    (@read [$($cases:tt)*] $default:tt
        send($end:expr, $message:expr $(,)?) -> $result:pat => $body:block $(, $($rest:tt)*)?) => {
        $crate::crossbeam_channel_internal!(
            @read [$($cases)* {send ($end, $message) ($result) ($body)}] $default $($($rest)*)?
        )
    };
    (@read [$($cases:tt)*] $default:tt
        send($end:expr, $message:expr $(,)?) -> $result:pat => $body:block $($rest:tt)*) => {
        $crate::crossbeam_channel_internal!(
            @read [$($cases)* {send ($end, $message) ($result) ($body)}] $default $($rest)*
        )
    };
    (@read [$($cases:tt)*] $default:tt
        send($end:expr, $message:expr $(,)?) -> $result:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::crossbeam_channel_internal!(
            @read [$($cases)* {send ($end, $message) ($result) ($body)}] $default $($($rest)*)?
        )
    };
    (@read $cases:tt [] default $(($($timeout:expr)? $(,)?))? => $body:block $(, $($rest:tt)*)?) => {
        $crate::crossbeam_channel_internal!(@read $cases [($($($timeout)?)?) ($body)] $($($rest)*)?)
    };
    (@read $cases:tt [] default $(($($timeout:expr)? $(,)?))? => $body:block $($rest:tt)*) => {
        $crate::crossbeam_channel_internal!(@read $cases [($($($timeout)?)?) ($body)] $($rest)*)
    };
    (@read $cases:tt [] default $(($($timeout:expr)? $(,)?))? => $body:expr $(, $($rest:tt)*)?) => {
        $crate::crossbeam_channel_internal!(@read $cases [($($($timeout)?)?) ($body)] $($($rest)*)?)
    };
    (@read $cases:tt [$($default:tt)+] default $($rest:tt)*) => {
        compile_error!("there can be only one `default` case in a `select!` block")
    };
    (@read $cases:tt $default:tt $($rest:tt)*) => {
        compile_error!(concat!(
            "expected `recv(receiver) -> result => body`, `send(sender, message) -> result => body`, ",
            "`default => body` or `default(timeout) => body`, found `", stringify!($($rest)*), "`"
        ))
    };

    // Makes each case: `@open [cases] [made] [default]`. What an end's expression makes lives until the body has run.
    (@open [] $made:tt $default:tt) => {
        $crate::crossbeam_channel_internal!(@choose $made $default)
    };
    (@open [{recv ($end:expr) $result:tt $body:tt} $($cases:tt)*] [$($made:tt)*] $default:tt) => {
        match $end {
            ref end => {
                let mut case = $crate::internal::RecvCase::new(end);
                $crate::crossbeam_channel_internal!(
                    @open [$($cases)*] [$($made)* {case () $result $body}] $default
                )
            }
        }
    };
    (@open [{send ($end:expr, $message:expr) $result:tt $body:tt} $($cases:tt)*] [$($made:tt)*] $default:tt) => {
        match $end {
            ref end => {
                let mut case = $crate::internal::SendCase::new(end);
                $crate::crossbeam_channel_internal!(
                    @open [$($cases)*] [$($made)* {case (.send($message)) $result $body}] $default
                )
            }
        }
    };

    // Waits: `@choose [made] [default]`.
    (@choose [$({$case:ident $send:tt $result:tt $body:tt})+] []) => {{
        let chosen = $crate::internal::choose(&mut [$($case.operation()),+], _IS_BIASED);
        $crate::crossbeam_channel_internal!(
            @run chosen (0) [] [$({$case $send $result $body})+] (::core::unreachable!("one was performed"))
        )
    }};
    (@choose [$({$case:ident $send:tt $result:tt $body:tt})*] [() $default:tt]) => {{
        let chosen = $crate::internal::choose_now(&mut [$($case.operation()),*], _IS_BIASED);
        $crate::crossbeam_channel_internal!(@run chosen (0) [] [$({$case $send $result $body})*] $default)
    }};
    (@choose [$({$case:ident $send:tt $result:tt $body:tt})*] [($timeout:expr) $default:tt]) => {{
        let chosen = $crate::internal::choose_in_time(&mut [$($case.operation()),*], _IS_BIASED, $timeout);
        $crate::crossbeam_channel_internal!(@run chosen (0) [] [$({$case $send $result $body})*] $default)
    }};
    (@choose [] []) => {
        compile_error!("empty `select!` block")
    };

    // Runs a body: `@run chosen (number of the next) [cases before it] [it and those behind it] (default)`.
    (@run $chosen:ident $number:tt [$($before:ident)*] [] ($default:expr)) => {{
        let _ = $chosen;
        $(::core::mem::drop($before);)*
        $default
    }};
    (@run $chosen:ident ($number:expr) [$($before:ident)*]
        [{$case:ident ($($send:tt)*) ($result:pat) ($body:expr)} $({$other:ident $($others:tt)*})*] $default:tt) => {
        if $chosen == $number {
            $(::core::mem::drop($before);)*
            $(::core::mem::drop($other);)*
            let $result = $case.finish() $($send)*;
            $body
        } else {
            $crate::crossbeam_channel_internal!(
                @run $chosen ($number + 1) [$($before)* $case] [$({$other $($others)*})*] $default
            )
        }
    };

    ($($tokens:tt)*) => {
        $crate::crossbeam_channel_internal!(@read [] [] $($tokens)*)
    };
}
