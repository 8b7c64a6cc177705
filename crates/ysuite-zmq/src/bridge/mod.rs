//! [`Bridge`]: connects a handle of a channel and a socket.
//!
//! | file | what lives there |
//! |---|---|
//! | `source` | the receivers whose messages can leave |
//! | `options` | the options of a bridge: addresses, marks, security |
//! | `address`, `names` | the parts of an address, and the files of some; hosts that must be resolved |
//! | `build` | the builders, one for each kind |
//! | `topics`, `subscriptions` | publishers and subscribers: their builders; what is asked for |
//! | `started` | the handle of a bridge at work |
//! | `reconnect` | connects again where libzmq does not |
//! | `work` | what a kind of bridge does, as the engine sees it |
//! | `outgoing`, `incoming`, `publish`, `duplex`, `ask`, `answer` | the kinds |
//! | `sink`, `gate`, `sets` | the channel into which messages come; what a bridge sleeps on for its channels |
//! | `engine`, `tools` | the thread, and what it has |
//! | `close` | how it ends |

mod address;
mod answer;
mod ask;
mod build;
mod close;
mod duplex;
mod engine;
mod gate;
mod incoming;
mod names;
mod options;
mod outgoing;
mod publish;
mod reconnect;
mod sets;
mod sink;
mod source;
mod started;
mod subscriptions;
mod tools;
mod topics;
mod work;

pub use self::answer::{Answer, Question, Reply};
pub use self::ask::{Ask, Asker, Pending, Unanswered};
pub use self::build::{Bridge, Duplex, Publish, Pull, Push, Subscribe};
pub use self::close::Closed;
pub use self::publish::WhenFull;
pub use self::source::Source;
pub use self::started::Started;
