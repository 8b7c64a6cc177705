//! The output about the clock that single messages are timed with.
//!
//! | file | contents |
//! |---|---|
//! | `published` | what the article says about the clocks of its time |
//! | `table` | the article's table, and all facts about the clock, as text |
//! | `command` | `ybench clock` |

pub mod command;
pub mod published;
pub mod table;

pub use ybench_measure::clock::{Facts, Source, cost, step};
