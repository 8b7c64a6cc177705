//! What is shown of the clock that single messages are timed with.
//!
//! | file | what lives there |
//! |---|---|
//! | `published` | what the article says of the clocks of its time |
//! | `table` | the article's table, and all that is known of the clock, as text |
//! | `command` | `ybench clock` |

pub mod command;
pub mod published;
pub mod table;

pub use ybench_core::clock::{Facts, Source, cost, step};
