//! Rounds in which each runs once, and the ratios inside them.

/// A competitor whose time is measured again and again.
pub(crate) struct Contender {
    name: &'static str,
    /// The highest wanted ratio to the first.
    goal: Option<f64>,
    /// Nanoseconds.
    time: Box<dyn Fn() -> f64>,
}

impl Contender {
    pub(crate) fn new(name: &'static str, goal: Option<f64>, time: impl Fn() -> f64 + 'static) -> Self {
        Self { name, goal, time: Box::new(time) }
    }
}

/// A quarter, a half and three quarters of the way up.
fn quartiles(mut figures: Vec<f64>) -> [f64; 3] {
    figures.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| figures[(figures.len() - 1) * quarter / 4])
}

pub(crate) struct Rounds {
    pub(crate) count: usize,
    /// The wanted headings; any, if there are none.
    pub(crate) words: String,
}

impl Rounds {
    /// `[rounds [words]]` of the program.
    pub(crate) fn from_arguments(program: &str, count: usize) -> Self {
        let mut arguments = std::env::args().skip(1);
        let count = match arguments.next().map(|count| count.parse()) {
            None => count,
            Some(Ok(count)) => count,
            Some(Err(_)) => panic!("usage: {program} [rounds [words]]"),
        };
        Self { count, words: arguments.next().unwrap_or_default() }
    }

    /// Measures, and prints the time of each and its factor compared with the first. Returns the lowest factor of the
    /// others; `None` if this is not wanted.
    pub(crate) fn compare(&self, heading: &str, contenders: &[Contender]) -> Option<f64> {
        if !heading.contains(&self.words) {
            return None;
        }
        let mut lowest = f64::INFINITY;
        let mut times = vec![Vec::new(); contenders.len()];
        for round in 0..self.count {
            for at in (0..contenders.len()).map(|at| (at + round) % contenders.len()) {
                times[at].push((contenders[at].time)());
            }
        }
        println!("\n{heading}; {} rounds", self.count);
        println!("  {:<48}{:>9}   {:<24}goal", "", "ns", "times the first");
        for (at, (contender, own)) in contenders.iter().zip(&times).enumerate() {
            let [_, median, _] = quartiles(own.clone());
            let [low, ratio, high] = quartiles(own.iter().zip(&times[0]).map(|(own, first)| own / first).collect());
            let told = format!("{ratio:.2} ({low:.2} .. {high:.2})");
            let goal = contender.goal.map_or(String::new(), |goal| {
                let kept = if ratio <= goal { "kept" } else { "MISSED" };
                format!("{goal:.2} {kept}")
            });
            println!("  {:<48}{median:>9.2}   {told:<24}{goal}", contender.name);
            if at != 0 {
                lowest = lowest.min(ratio);
            }
        }
        Some(lowest)
    }
}
