//! The compiled part of the Python package `ysuite`: channels of bytes between processes. What needs no speed is in
//! `package/ysuite/__init__.py`.
//!
//! An end is for one thread at a time; a second one gets a `RuntimeError`, as Rust would not compile it. Python's lock is
//! released while an end waits and while it copies much. A wait is `poll` of the end's descriptor, and not that of
//! `ysuite-shm`: a signal ends it, so that Python's handlers run.
#![allow(clippy::result_large_err, reason = "an end that cannot be given away goes on")]
#![allow(clippy::wrong_self_convention, reason = "what an object of Python gives away it has given away")]

mod borrowed;
mod call;
mod errors;
mod funnel;
mod listener;
mod loan;
mod many;
mod receiver;
mod sender;
mod slot;
mod wait;
mod work;

use pyo3::prelude::*;

#[pymodule]
fn _ysuite(module: &Bound<'_, PyModule>) -> PyResult<()> {
    slot::watch_forks();
    module.add_class::<sender::Sender>()?;
    module.add_class::<receiver::Receiver>()?;
    module.add_class::<funnel::Funnel>()?;
    module.add_class::<many::Broadcast>()?;
    module.add_class::<many::BroadcastReceiver>()?;
    module.add_class::<many::Watch>()?;
    module.add_class::<many::WatchReceiver>()?;
    module.add_class::<loan::LoanSender>()?;
    module.add_class::<loan::Loan>()?;
    module.add_class::<borrowed::LoanReceiver>()?;
    module.add_class::<borrowed::Borrowed>()?;
    module.add_class::<call::Caller>()?;
    module.add_class::<call::Pending>()?;
    module.add_class::<call::Questions>()?;
    module.add_class::<call::Question>()?;
    module.add_class::<work::WorkSender>()?;
    module.add_class::<work::WorkReceiver>()?;
    module.add_class::<work::Job>()?;
    module.add_class::<listener::Listener>()?;
    module.add_function(wrap_pyfunction!(listener::connect, module)?)
}
