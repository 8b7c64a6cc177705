//! Runs a model: every interleaving, up to a number of preemptions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) fn model(check: impl Fn() + Sync + Send + 'static) {
    model_up_to(3, check);
}

/// Explores a model with up to `preemptions` preemptions, or with fewer where `YSUITE_PREEMPTIONS` says so.
pub(crate) fn model_up_to(preemptions: usize, check: impl Fn() + Sync + Send + 'static) {
    let most = std::env::var("YSUITE_PREEMPTIONS").map(|most| most.parse().expect("YSUITE_PREEMPTIONS is a number"));
    model_with(preemptions.min(most.unwrap_or(usize::MAX)), check);
}

/// Explores a model with up to `preemptions` preemptions, or up to `LOOM_MAX_PREEMPTIONS` where that is set. Prints the model's name
/// with the number of executions: the cost of a bound, in a unit that is the same on every machine. For models that
/// fewer preemptions do not test.
pub(crate) fn model_with(preemptions: usize, check: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(preemptions);
    let bound = builder.preemption_bound.unwrap_or_default();
    builder.max_branches = 20_000;
    let executions = Arc::new(AtomicUsize::new(0));
    let count = executions.clone();
    builder.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        check();
    });
    let executions = executions.load(Ordering::Relaxed);
    // The harness names a test's thread after the test, where it runs several.
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    println!("\nmodel {name}: {executions} executions, {bound} preemptions");
}
