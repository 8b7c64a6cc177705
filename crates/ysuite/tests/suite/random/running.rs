//! Runs random cases, makes a failing one short, prints it; and notices when one hangs.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

/// A case that has not ended after so long never will.
const HANGS: Duration = Duration::from_secs(120);

/// How many operations each room gets.
pub(crate) fn operations(by_default: usize) -> usize {
    std::env::var("YSUITE_RANDOM").map_or(by_default, |number| number.parse().expect("YSUITE_RANDOM is a number"))
}

/// What is tried.
pub(crate) trait Case: Clone + Debug + Send + 'static {
    /// The same with one step less, for each step.
    fn shorter(&self) -> Vec<Self>;
    fn show(&self) -> String;
}

impl<S: Clone + Debug + Send + 'static, O: Clone + Debug + Send + 'static> Case for (S, Vec<O>) {
    fn shorter(&self) -> Vec<Self> {
        let without = |index| {
            let mut ops = self.1.clone();
            ops.remove(index);
            (self.0.clone(), ops)
        };
        (0..self.1.len()).rev().map(without).collect()
    }

    fn show(&self) -> String {
        let ops: Vec<_> = self.1.iter().enumerate().map(|(index, op)| format!("\n{index:4} {op:?}")).collect();
        format!("with {:?}:{}", self.0, ops.concat())
    }
}

/// Leaves out steps for as long as it fails all the same: simpler steps may have made others needless.
fn shortest<C: Case>(mut reason: String, mut case: C, test: &impl Fn(&C) -> Result<(), String>) -> (String, C) {
    let fails = |case: &C| match catch_unwind(AssertUnwindSafe(|| test(case))) {
        Ok(result) => result.err(),
        Err(_) => Some("panics".into()),
    };
    while let Some((text, shorter)) = case.shorter().into_iter().find_map(|case| Some((fails(&case)?, case))) {
        (reason, case) = (text, shorter);
    }
    (reason, case)
}

/// Tries this many cases. Without `YSUITE_RANDOM` they are the same in every run.
pub(crate) fn run<S>(cases: usize, strategy: S, test: impl Fn(&S::Value) -> Result<(), String> + Send + 'static)
where
    S: Strategy + Send + 'static,
    S::Value: Case,
{
    let under_way = Arc::new(Mutex::new(None));
    let noted = under_way.clone();
    let (step, steps) = channel();
    let worker = thread::spawn(move || {
        let config = Config {
            cases: u32::try_from(cases).unwrap_or(u32::MAX).max(1),
            failure_persistence: None,
            max_shrink_iters: 20_000,
            ..Config::default()
        };
        let mut runner = if std::env::var_os("YSUITE_RANDOM").is_some() {
            TestRunner::new(config)
        } else {
            TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
        };
        let outcome = runner.run(&strategy, |case| {
            let _ = step.send(());
            *noted.lock().unwrap() = Some(case.clone());
            test(&case).map_err(TestCaseError::fail)
        });
        outcome.map_err(|error| match error {
            TestError::Abort(reason) => reason.to_string(),
            TestError::Fail(reason, case) => {
                let (reason, case) = shortest(reason.to_string(), case, &test);
                format!("{reason}\n{}", case.show())
            }
        })
    });
    loop {
        match steps.recv_timeout(HANGS) {
            Ok(()) => {}
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let case = under_way.lock().unwrap();
                panic!("hangs\n{}", case.as_ref().map_or_else(String::new, Case::show));
            }
        }
    }
    if let Err(text) = worker.join().expect("failures are caught") {
        panic!("{text}");
    }
}
