//! `ybench run`: the requested scenarios, at the requested parameters, ranked one by one.

use clap::Args;
use ybench_measure::error::Error;
use ybench_measure::plan;
use ybench_measure::record::{Parameter, Quantity, Report};
use ybench_measure::scenario::{self, Scenario, carried, process, senders};
use ybench_measure::spelling::hint;
use ybench_measure::stats::listed;
use ybench_measure::warnings::Warning;

use crate::request::Request;
use crate::{measure, quantity, table};

const SECONDS: f64 = 60.0;
/// If the number of messages is fixed, and so the time.
const ROUNDS: u32 = 7;

#[derive(Debug, Default, Args)]
pub struct Selection {
    /// Scenarios by name, or `all`
    #[arg(required = true, value_name = "SCENARIO")]
    pub scenarios: Vec<String>,
    /// Messages per second, instead of the scenario's own; repeatable
    #[arg(long = "rate", value_name = "N", value_parser = quantity::rate)]
    pub rates: Vec<f64>,
    /// Bytes in a message, instead of the scenario's own
    #[arg(long = "size", value_name = "BYTES", value_parser = quantity::bytes)]
    pub sizes: Vec<f64>,
    /// Messages in a burst, instead of the scenario's own
    #[arg(long = "backlog", value_name = "N", value_parser = quantity::count)]
    pub backlogs: Vec<f64>,
    /// Seconds without a message, instead of the scenario's own
    #[arg(long = "silence", value_name = "SECONDS", value_parser = quantity::seconds)]
    pub silences: Vec<f64>,
}

/// A scenario with its parameters, one session each.
#[derive(Clone)]
pub struct Asked {
    pub scenario: &'static Scenario,
    pub parameters: Vec<Option<Parameter>>,
}

/// An option that replaces a scenario's own parameters.
struct Choice<'a> {
    option: &'static str,
    values: &'a [f64],
    quantities: &'static [Quantity],
    /// The range that can be measured.
    from: f64,
    to: f64,
    unit: &'static str,
}

impl Selection {
    fn choices(&self) -> [Choice<'_>; 4] {
        let choice =
            |option, values, quantities, (from, to), unit| Choice { option, values, quantities, from, to, unit };
        const SIZES: &[Quantity] = &[Quantity::BytesByValue, Quantity::BytesByPointer, Quantity::BytesByPool];
        [
            choice("--rate", &self.rates[..], &[Quantity::Rate], (1.0, 1e8), "messages per second"),
            choice("--size", &self.sizes[..], SIZES, (8.0, 65_536.0), "bytes"),
            choice("--backlog", &self.backlogs[..], &[Quantity::Backlog], (1.0, 1e8), "messages"),
            choice("--silence", &self.silences[..], &[Quantity::Silence], (1e-4, 60.0), "seconds"),
        ]
    }

    /// The scenarios, each with its parameters. Refuses unknown names, values out of range, and options without a
    /// meaning.
    pub fn resolved(&self) -> Result<Vec<Asked>, Error> {
        let chosen = self.chosen()?;
        for choice in self.choices() {
            choice.check(&chosen)?;
        }
        // Each size has its own compiled driver.
        let chosen_with = |parameters: &[Parameter]| chosen.iter().any(|scenario| scenario.parameters == parameters);
        for &bytes in &self.sizes {
            if chosen_with(process::SIZE.parameters) {
                process::checked(bytes)?;
            }
            if chosen_with(carried::PARAMETERS) {
                carried::checked(bytes)?;
            }
        }
        Ok(chosen.into_iter().map(|scenario| Asked { scenario, parameters: self.parameters(scenario) }).collect())
    }

    fn chosen(&self) -> Result<Vec<&'static Scenario>, Error> {
        let all = scenario::all();
        for name in self.scenarios.iter().filter(|name| *name != "all") {
            if !all.iter().any(|scenario| scenario.name == name) {
                let names: Vec<&str> = all.iter().map(|scenario| scenario.name).collect();
                return Err(Error::Refused(format!(
                    "There is no scenario called '{name}';{} there are {} (or `all`).",
                    hint(name, names.iter().copied()),
                    listed(&names)
                )));
            }
        }
        let wanted = |scenario: &&&Scenario| self.scenarios.iter().any(|name| name == "all" || name == scenario.name);
        Ok(all.iter().filter(wanted).copied().collect())
    }

    fn parameters(&self, scenario: &Scenario) -> Vec<Option<Parameter>> {
        if scenario.parameters.is_empty() {
            return vec![None];
        }
        let mut parameters: Vec<Parameter> = scenario.parameters.to_vec();
        for choice in self.choices().iter().filter(|choice| !choice.values.is_empty()) {
            for &quantity in choice.quantities {
                let own = parameters.len();
                parameters.retain(|parameter| parameter.quantity != quantity);
                if parameters.len() < own {
                    parameters.extend(choice.values.iter().map(|&value| Parameter { quantity, value }));
                }
            }
        }
        parameters.into_iter().map(Some).collect()
    }
}

impl Choice<'_> {
    fn check(&self, chosen: &[&Scenario]) -> Result<(), Error> {
        let (option, unit) = (self.option, self.unit);
        if let Some(value) = self.values.iter().find(|value| !(self.from..=self.to).contains(*value)) {
            let figure = |value: f64| if value >= 1.0 { table::grouped(value) } else { value.to_string() };
            let (from, to) = (figure(self.from), figure(self.to));
            return Err(Error::Refused(format!("{option} takes {from} to {to} {unit}, not {value}.")));
        }
        let mut own = chosen.iter().flat_map(|scenario| scenario.parameters);
        let meant = own.any(|parameter| self.quantities.contains(&parameter.quantity));
        if !self.values.is_empty() && !meant {
            let names: Vec<&str> = chosen.iter().map(|scenario| scenario.name).collect();
            return Err(Error::Refused(format!("{option} has no meaning for {}.", listed(&names))));
        }
        Ok(())
    }
}

pub fn run(request: &Request, selection: &Selection) -> Result<Report, Error> {
    let selected = selection.resolved()?;
    let each = || selected.iter().flat_map(|asked| asked.parameters.iter().map(|at| (asked.scenario, *at)));
    senders::room_for(each().filter_map(|(_, at)| at))?;
    let usual = measure::Usual { command: "run", seconds: SECONDS, rounds: ROUNDS, nobody: measure::NOBODY };
    let sized = selected.iter().any(|asked| asked.scenario.parameters == carried::PARAMETERS);
    measure::in_rounds(request, usual, |frame, warnings| {
        warnings.extend(
            (sized && !carried::ALL_SIZES).then_some(Warning::SizesLeftOut { largest: carried::SMALLEST.value }),
        );
        each().filter_map(|(scenario, at)| plan::of(scenario, at, &request.entries, frame, warnings)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(scenarios: &[&str]) -> Selection {
        Selection { scenarios: scenarios.iter().map(|name| (*name).to_owned()).collect(), ..Selection::default() }
    }

    fn refusal(selection: &Selection) -> String {
        let Err(error) = selection.resolved() else { panic!("{selection:?} was not refused") };
        assert_eq!(error.exit_status(), 2);
        error.to_string()
    }

    #[test]
    fn an_unknown_scenario_is_refused_with_the_names_there_are() {
        let sentence = refusal(&selection(&["throughput", "nothing"]));
        assert!(sentence.starts_with("There is no scenario called 'nothing'; there are "));
        assert!(sentence.contains("throughput"));
    }

    #[test]
    fn all_means_all() {
        assert_eq!(selection(&["all"]).resolved().unwrap().len(), scenario::all().len());
    }

    #[test]
    fn an_option_without_a_meaning_is_refused() {
        let asked = Selection { rates: vec![1000.0], ..selection(&["throughput"]) };
        assert_eq!(refusal(&asked), "--rate has no meaning for throughput.");
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        for sizes in [vec![0.0], vec![8.0, 1073741824.0], vec![f64::NAN]] {
            let asked = Selection { sizes, ..selection(&["all"]) };
            assert!(refusal(&asked).starts_with("--size takes 8 to 65,536 bytes, not "));
        }
        let asked = Selection { sizes: vec![100.0], ..selection(&["size"]) };
        assert_eq!(refusal(&asked), "A message can have 8, 64, 512, 1024, 2048, 4096, 16384 or 65536 bytes, not 100.");
    }
}
