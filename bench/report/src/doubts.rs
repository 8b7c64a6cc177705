//! The warnings of a result as lines: broken words first, and those of single scenarios only counted if there are many.

use ybench_measure::record::Report;
use ybench_measure::warnings::Warning;

/// Warnings of single scenarios that are worth a line each.
const MANY: usize = 3;

/// The first lines of every output: who failed validation.
pub fn broken(report: &Report) -> impl Iterator<Item = String> {
    let line = |(name, scenario, sentence)| format!("BROKEN: {name} {sentence} ({scenario}). It is in no table.");
    report.broken().map(line)
}

/// A line for each warning with its advice; those of single scenarios only counted if there are many, unless all are
/// wanted.
pub fn lines(report: &Report, all: bool) -> Vec<String> {
    let (all, counted) = few(report, if all { usize::MAX } else { MANY }, |_| true);
    let told = all.into_iter().map(|warning| format!("{warning} {}", warning.advice()));
    told.chain(counted.map(|count| {
        format!("{count} more about single scenarios and their rounds are in the report (--verbose prints them).")
    }))
    .collect()
}

/// The warnings that put the figures in doubt, without advice.
pub fn of_figures(report: &Report) -> Vec<String> {
    let (all, counted) = few(report, MANY, doubts);
    let told = all.into_iter().map(Warning::to_string);
    told.chain(counted.map(|count| format!("{count} more warnings are about single scenarios."))).collect()
}

/// Those that are wanted. Those of single scenarios are only counted if there are many, unless a word was broken.
fn few(report: &Report, many: usize, wanted: impl Fn(&Warning) -> bool) -> (Vec<&Warning>, Option<usize>) {
    let all = report.warnings.iter().filter(|warning| wanted(warning));
    let counts = |warning: &&Warning| warning.is_of_one_scenario() && !warning.is_of_a_broken_word();
    let (of_scenarios, mut shown): (Vec<&Warning>, Vec<&Warning>) = all.partition(counts);
    let counted = (of_scenarios.len() > many).then_some(of_scenarios.len());
    if counted.is_none() {
        shown.extend(of_scenarios);
    }
    shown.sort_by_key(|warning| !warning.is_of_a_broken_word());
    (shown, counted)
}

/// Not: facts about the machine that are the same in every run on it, and that something took no part.
fn doubts(warning: &Warning) -> bool {
    match warning {
        Warning::Loaded { .. }
        | Warning::TimeStolen { .. }
        | Warning::WorkOfOthers { .. }
        | Warning::FewRounds { .. }
        | Warning::RoundsDropped { .. }
        | Warning::AllRoundsDoubtful { .. }
        | Warning::SeveralStates { .. }
        | Warning::CpuQuota { .. }
        | Warning::TakenOut { .. } => true,
        Warning::DebugBuild
        | Warning::OneCpu
        | Warning::SpinnersLeftOut { .. }
        | Warning::TakesNoPart { .. }
        | Warning::VirtualMachine { .. }
        | Warning::Governor { .. }
        | Warning::Turbo
        | Warning::ClockNotInStep { .. }
        | Warning::CoarseClock { .. }
        | Warning::SizesLeftOut { .. }
        | Warning::Unavailable { .. }
        | Warning::Interrupted { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_word_is_first_and_never_only_counted() {
        let states = |scenario: &str| Warning::SeveralStates { scenario: scenario.into(), least: 1.0, most: 2.0 };
        let taken_out =
            Warning::TakenOut { scenario: "latency".into(), name: "liar".into(), sentence: "lost a message".into() };
        let mut warnings = vec![Warning::Turbo];
        warnings.extend(["a", "b", "c", "d"].map(states));
        warnings.push(taken_out);
        let report = Report { warnings, ..Report::default() };
        assert_eq!(lines(&report, true).len(), 6);
        let told = lines(&report, false);
        assert!(told[0].starts_with("latency: liar was taken out: it lost a message."), "{told:?}");
        assert_eq!((told.len(), &told[2][..6]), (3, "4 more"));
        let told = of_figures(&report);
        assert!(told.len() == 2 && told[0].contains("liar") && !told.concat().contains("turbo"), "{told:?}");
    }
}
