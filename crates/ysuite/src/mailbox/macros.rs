//! Handlers for messages of several types, written in place. They may use all variables of the function around them.
//! `break`, `continue`, `return` and `?` act on that function: one handler runs, after the search.

/// Receives the next message for which there is a handler; waits for one without a time limit.
///
/// ```
/// use ysuite::mailbox::{Address, Mailbox, ReceiveError};
/// use ysuite::receive;
///
/// struct Stop;
///
/// fn adder(mailbox: &mut Mailbox) -> Result<(), ReceiveError> {
///     let mut sum = 0;
///     loop {
///         receive!(mailbox => {
///             number: i64 where *number >= 0 => sum += number,
///             (client, _question): (Address, &'static str) => drop(client.send(sum)),
///             _: Stop => return Ok(()),
///             other => println!("what is {other:?}?"),
///         })?;
///     }
/// }
///
/// let mut mailbox = Mailbox::new();
/// let adder = mailbox.spawn(adder);
/// adder.send(40_i64).unwrap();
/// adder.send(2_i64).unwrap();
/// adder.send(-7_i64).unwrap();
/// adder.send((mailbox.address(), "how much is it?")).unwrap();
/// assert_eq!(mailbox.receive::<i64>(), Ok(42));
/// adder.send(Stop).unwrap();
/// ```
///
/// # Handlers
///
/// * `pattern: Type => expression`: for messages of that type that match the pattern. The pattern is one token: a name,
///   `_`, a literal, or something in parentheses such as `(a, b)` or `(Some(x))`.
/// * `pattern: Type where guard => expression`: if the guard is true as well. In the guard the names are
///   references to the message.
/// * `name => expression`: a catch-all, for an [`Envelope`](crate::mailbox::Envelope) with any message, also with the
///   notice of a link or of the owner. Must be the last.
///
/// The first handler that accepts a message gets it. Messages without a handler stay for later, in their order. All
/// expressions have one type; a comma follows each.
///
/// # Errors
///
/// As [`Mailbox::receive`](crate::mailbox::Mailbox::receive): `Result<_, ReceiveError>`, with the expression's value.
/// The notice of a link or of the owner is not an error if there is a handler for `LinkTerminated` or
/// `OwnerTerminated`.
#[macro_export]
macro_rules! receive {
    ($mailbox:expr => { $($handlers:tt)* }) => {
        $crate::__receive_by!($mailbox.search(); $($handlers)*)
    };
}

/// As [`receive!`](crate::receive), but waits no longer than a `Duration`: then `Err(ReceiveError::Timeout)`. With zero
/// it does not wait.
///
/// ```
/// use std::time::Duration;
/// use ysuite::mailbox::{Mailbox, ReceiveError};
/// use ysuite::receive_timeout;
///
/// let mut mailbox = Mailbox::new();
/// let address = mailbox.address();
/// address.send("no handler is for this").unwrap();
/// let received = receive_timeout!(mailbox, Duration::from_millis(1) => {
///     number: i64 => number,
/// });
/// assert_eq!(received, Err(ReceiveError::Timeout));
/// ```
#[macro_export]
macro_rules! receive_timeout {
    ($mailbox:expr, $timeout:expr => { $($handlers:tt)* }) => {
        $crate::__receive_by!($mailbox.search_timeout($timeout); $($handlers)*)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __receive_by {
    ($search:expr; $($pattern:tt $(: $type:ty $(where $guard:expr)?)? => $body:expr),+ $(,)?) => {{
        let mut search = $search;
        let found = loop {
            if let Err(error) = search.offer_next() {
                break Err(error);
            }
            $crate::__receive_look!(search, 0_usize; $({$pattern [$($type)?] [$($($guard)?)?]})+);
        };
        match found {
            Ok(found) => Ok($crate::__receive_do!(search, found, 0_usize; $({$pattern [$($type)?] [$($($guard)?)?] $body})+)),
            Err(error) => Err(error),
        }
    }};
}

/// Breaks out of the search with the number of the first handler that accepts the offered message.
#[doc(hidden)]
#[macro_export]
macro_rules! __receive_look {
    ($search:ident, $number:expr;) => {};
    ($search:ident, $number:expr; {$pattern:tt [] []}) => {
        break Ok($number);
    };
    ($search:ident, $number:expr; {$pattern:tt [] []} $($rest:tt)+) => {
        ::core::compile_error!("a catch-all must be the last handler");
    };
    ($search:ident, $number:expr; {$pattern:tt [$type:ty] [$($guard:expr)?]} $($rest:tt)*) => {
        if let Some(message) = $search.peek::<$type>() {
            let is_for = match message {
                #[allow(unused_variables, unused_parens)]
                $pattern => true $(&& $guard)?,
                #[allow(unreachable_patterns)]
                _ => false,
            };
            if is_for {
                break Ok($number);
            }
        }
        $crate::__receive_look!($search, $number + 1; $($rest)*);
    };
}

// USER CODE: handlers; the search is over, the message belongs to the handler; re-entrance: everything, also a receive
//     from the same mailbox; panic: propagates, and the message is dropped; test: tests/suite/mailbox/receiving.rs:
//     handlers_leave_loops_and_functions_and_use_the_mailbox
/// Runs the handler that was found.
#[doc(hidden)]
#[macro_export]
macro_rules! __receive_do {
    ($search:ident, $found:ident, $number:expr;) => {
        ::core::unreachable!("one of the handlers was found")
    };
    ($search:ident, $found:ident, $number:expr; {$pattern:tt [] [] $body:expr} $($refused:tt)*) => {{
        let $pattern = $search.accept_any();
        $body
    }};
    ($search:ident, $found:ident, $number:expr; {$pattern:tt [$type:ty] [$($guard:expr)?] $body:expr} $($rest:tt)*) => {
        if $found == $number {
            match $search.accept::<$type>() {
                #[allow(unused_parens)]
                $pattern => $body,
                #[allow(unreachable_patterns)]
                _ => ::core::unreachable!("it was checked before"),
            }
        } else {
            $crate::__receive_do!($search, $found, $number + 1; $($rest)*)
        }
    };
}
