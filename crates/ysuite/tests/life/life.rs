//! What is counted of a program, when, and what may not grow.
//!
//! A program's test starts this binary once more with that test alone, and there the program runs; what it counts is the whole
//! process's. It is counted at a tenth, at half and at the end of the steps. At half and at the end there may be no
//! more than at the tenth, except what [`Settling`] allows, which does not depend on the number of steps; and the last
//! twentieth of the steps may take a fifth more instructions than the second twentieth.

use std::env;
use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;

use crate::counting::held;
use crate::instructions::{Counter, counted, has_valgrind, parts, ysuite_life_part};
use crate::support::process::{again, descriptors, resident};

/// The test whose program this process runs.
const CHILD: &str = "YSUITE_LIFE";
/// As [`CHILD`]: all of them, one after another, of whose instructions valgrind counts those of each part.
const ALL: &str = "all";

/// Steps of a program in the short form, and in the long one. Not all of them have so [many](Steps).
const STEPS: [u64; 2] = [100_000, 10_000_000];
/// Under valgrind, where each takes fifty times as long.
const COUNTED_STEPS: [u64; 2] = [400, 10_000];

/// Steps before those that are counted, in which tables get the size that they need.
const SETTLING: u64 = 100;

/// How much more than at a tenth of the run there may be, for any number of steps.
#[derive(Clone, Copy)]
struct Settling {
    /// Bytes of the heap.
    heap: u64,
    /// Bytes of address space.
    mapped: u64,
}

/// What a step does, for the number of steps.
#[derive(Clone, Copy)]
pub(crate) enum Steps {
    /// Calls on the thread that runs the program; other threads, if any, have been there from the beginning.
    Calls,
    /// As above, and now and then much more than in other steps, as where a segment has been filled.
    Uneven,
    /// As the first, and more of them: a tenth of the steps.
    Few,
    /// Starts a thread or more, and joins them: a tenth of the steps.
    Threads,
}

/// Which of two numbers holds.
fn is_long() -> usize {
    usize::from(env::var("YSUITE_STRESS").is_ok_and(|form| form == "long"))
}

impl Steps {
    fn number(self) -> u64 {
        match self {
            Self::Calls | Self::Uneven => STEPS[is_long()],
            Self::Few | Self::Threads => STEPS[is_long()] / 10,
        }
    }

    /// The number under valgrind.
    fn counted(self) -> u64 {
        match self {
            Self::Uneven => COUNTED_STEPS[is_long()] * 10,
            Self::Calls | Self::Few | Self::Threads => COUNTED_STEPS[is_long()],
        }
    }

    fn settling(self) -> Settling {
        match self {
            // A lane or an spsc channel that is used continuously has up to four spare chunks of 8 KiB; blocks of pages
            // are cut out of 2 MiB.
            Self::Calls | Self::Uneven | Self::Few => Settling { heap: 40 << 10, mapped: 4 << 20 },
            // The C library keeps the stacks of threads that have ended, 40 MB of them at most.
            Self::Threads => Settling { heap: 40 << 10, mapped: 52 << 20 },
        }
    }
}

/// The amount of everything that a program could leak.
struct Held {
    heap: i64,
    resident: u64,
    mapped: u64,
    maps: u64,
    descriptors: u64,
    threads: u64,
}

impl Held {
    fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").expect("a mounted /proc");
        let mapped = status
            .lines()
            .find_map(|line| line.strip_prefix("VmSize:")?.strip_suffix("kB")?.trim().parse::<u64>().ok());
        Self {
            heap: held(),
            resident: resident(),
            mapped: mapped.expect("a number") << 10,
            maps: fs::read_to_string("/proc/self/maps").expect("a mounted /proc").lines().count() as u64,
            descriptors: descriptors() as u64,
            threads: threads(),
        }
    }

    /// What there is more of than `before`, beyond what may be.
    fn grown(&self, before: &Self, settling: Settling) -> Vec<String> {
        let all = [
            ("bytes on the heap", self.heap as u64, before.heap as u64, settling.heap),
            ("bytes resident", self.resident, before.resident, settling.heap + (1 << 20)),
            ("bytes mapped", self.mapped, before.mapped, settling.heap + settling.mapped),
            ("maps", self.maps, before.maps, 16),
            ("descriptors", self.descriptors, before.descriptors, 0),
            ("threads", self.threads, before.threads, 0),
        ];
        let grown = all.iter().filter(|(_, now, before, more)| *now > before + more);
        grown.map(|(what, now, before, _)| format!("{what}: {before} at a tenth of the steps, then {now}")).collect()
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { heap, resident, mapped, maps, descriptors, threads } = self;
        write!(
            f,
            "heap {heap}, resident {resident}, mapped {mapped} in {maps}, descriptors {descriptors}, threads {threads}"
        )
    }
}

/// How many threads this process has.
fn threads() -> u64 {
    fs::read_dir("/proc/self/task").expect("a mounted /proc").count() as u64
}

/// A program that runs.
pub(crate) struct Life {
    test: String,
    /// Up to [`SETTLING`].
    settled: u64,
    steps: u64,
    taken: u64,
    /// The number of twentieths after which something is counted next.
    next: u64,
    settling: Settling,
    at_a_tenth: Option<Held>,
    counter: Option<Counter>,
    /// The instructions when the part under way began.
    begun: u64,
    parts: Vec<u64>,
    /// Only valgrind counts.
    under_valgrind: bool,
    /// How many there were at the beginning.
    threads: u64,
    /// Each step starts some.
    starts_threads: bool,
}

impl Life {
    fn new(test: &str, steps: Steps, under_valgrind: bool) -> Self {
        Self {
            test: test.to_owned(),
            steps: if under_valgrind { steps.counted() } else { steps.number() },
            settled: 0,
            taken: 0,
            next: 0,
            settling: steps.settling(),
            at_a_tenth: None,
            counter: if under_valgrind { None } else { Counter::open() },
            begun: 0,
            parts: Vec::with_capacity(8),
            under_valgrind,
            threads: threads(),
            starts_threads: matches!(steps, Steps::Threads),
        }
    }

    /// Begins the next step: false after the last. No other thread of the program may run then.
    pub(crate) fn step(&mut self) -> bool {
        if self.settled < SETTLING {
            self.settled += 1;
            return true;
        }
        if self.taken * 20 == self.next * self.steps {
            self.look();
        }
        let goes_on = self.taken < self.steps;
        self.taken += u64::from(goes_on);
        goes_on
    }

    /// The number of this step, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.settled + self.taken
    }

    /// Whether this step is the first after the half of the run: what happens there once is in none of the parts that
    /// are compared.
    pub(crate) fn is_past_the_half_once(&self) -> bool {
        self.taken == self.steps / 2 + 1
    }

    /// A crowd that comes once, after the tenth of the run, may leave this many bytes of the heap to the next.
    pub(crate) fn may_keep(&mut self, heap: u64) {
        self.settling.heap = heap;
    }

    /// Until threads that could not be joined have ended, so that none runs when the next step begins.
    pub(crate) fn wait_for_threads(&self) {
        while threads() > self.threads {
            thread::yield_now();
        }
    }

    /// Counts, at one of some twentieths of the run.
    fn look(&mut self) {
        if self.under_valgrind {
            ysuite_life_part();
            println!("part {} {} {}", self.test, self.steps, u8::from(self.starts_threads));
        } else if let Some(counter) = &mut self.counter {
            self.parts.push(counter.read() - self.begun);
        }
        if !self.under_valgrind && matches!(self.next, 2 | 10 | 20) {
            let now = Held::now();
            println!("held by {} after {} of {} steps: {now}", self.test, self.taken, self.steps);
            if let Some(before) = &self.at_a_tenth {
                let grown = now.grown(before, self.settling);
                assert!(grown.is_empty(), "grown after {} of {} steps: {}", self.taken, self.steps, grown.join("; "));
            } else {
                self.at_a_tenth = Some(now);
            }
        }
        self.next = match self.next {
            0 => 1,
            1 => 2,
            2 => 10,
            10 => 19,
            _ => 20,
        };
        self.begun = self.counter.as_mut().map_or(0, Counter::read);
    }
}

const BEHIND_A_CROWD: &str = "watches::a_crowd_of_handlers_that_has_gone";

/// What is wrong with the instructions of the parts of a run of `steps` steps.
fn costs_more(test: &str, parts: &[u64], steps: u64, starts_threads: bool) -> Option<String> {
    let [_, _, early, _, _, late] = *parts else {
        return Some(format!("{test}: {} parts have been counted", parts.len()));
    };
    let (early, late) = (early * 20 / steps, late * 20 / steps);
    println!("instructions of {test}: {early} a step after a twentieth of {steps} steps, {late} at the end");
    // A fifth, and some for what comes now and then. If a step waits for a thread that it has started, it spins as long
    // as the machine delays that thread, and twenty steps give no average: half of it. After a crowd that waited at
    // once a notifier checks up to 64 counts of rows and 64 of blocks in each of the two lists of a watch, however
    // large the crowd was.
    let counts = if test == BEHIND_A_CROWD { 2 * (64 + 64) * 50 } else { 0 };
    let more = if starts_threads { early / 2 + 2_000 } else { early / 5 + 300 };
    (late > early + more + counts).then(|| {
        format!("{test}: a step takes {early} instructions after a twentieth of {steps} steps, and {late} at the end")
    })
}

/// Runs `program` in a process of its own, and fails where something grows with the number of its steps. `test` is the calling
/// test's path.
#[track_caller]
pub(crate) fn live(test: &str, steps: Steps, program: impl FnOnce(&mut Life)) {
    let wanted = env::var(CHILD).unwrap_or_default();
    if wanted == test || wanted == ALL {
        let mut life = Life::new(test, steps, wanted == ALL);
        program(&mut life);
        assert!(life.next == 20 && life.taken == life.steps, "the program has taken {} steps", life.taken);
        if life.counter.is_some() {
            let more = costs_more(test, &life.parts, life.steps, life.starts_threads);
            assert!(more.is_none(), "{}", more.unwrap_or_default());
        }
        return;
    }
    let (said, wrong) = run(child(test).args(["--exact", test]));
    assert!(wrong.is_none(), "{}", wrong.unwrap_or_default());
    // A name that is misspelt runs nothing, and that passes.
    assert!(said.contains("1 passed"), "no such program: {test}: {said}");
}

/// This binary once more.
fn child(test: &str) -> Command {
    let mut child = again();
    child.args(["--nocapture", "--test-threads=1"]);
    // One heap of the C library for all threads: what is mapped for a second one may come at any time.
    child.env(CHILD, test).env("MALLOC_ARENA_MAX", "1");
    child
}

/// Runs it to completion, and returns its output, and what is wrong.
fn run(command: &mut Command) -> (String, Option<String>) {
    let output = command.output().expect("a child");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    let wrong = (!output.status.success()).then(|| format!("{said}\n{complained}"));
    said.lines()
        .filter(|line| line.contains("held by ") || line.contains("instructions of "))
        .for_each(|line| println!("{line}"));
    (said, wrong)
}

/// All programs with few steps, under valgrind, where the processor's counter is not lent; each has counted its instructions
/// itself where it is.
#[test]
fn no_program_takes_more_instructions_with_time() {
    if !env::var(CHILD).unwrap_or_default().is_empty() || Counter::open().is_some() {
        return;
    }
    if env::var_os("YSUITE_RUNNER").is_some() || !has_valgrind() {
        println!("instructions have not been counted: the processor's counter is not lent, and there is no valgrind");
        assert!(!env::var("YBENCH_VALGRIND").is_ok_and(|wanted| wanted == "required"), "valgrind is demanded");
        return;
    }
    let folder = Folder::new();
    let mut all = counted(&child(ALL), &folder.0);
    all.env(CHILD, ALL).env("MALLOC_ARENA_MAX", "1");
    // Now and then the C library's heap merges all small blocks that were freed, also those of the programs before: a hundred
    // thousand instructions, in whichever step needs a large block then. Without lists of small ones there is nothing to merge.
    all.env("GLIBC_TUNABLES", "glibc.malloc.mxfast=0");
    let (said, wrong) = run(&mut all);
    let counts = parts(&folder.0);
    let said: Vec<&str> = said.lines().filter_map(|line| line.split_once("part ").map(|(_, part)| part)).collect();
    assert!(counts.len() >= said.len() && said.len() >= 6, "{} parts, {} counts", said.len(), counts.len());
    let mut programs: Vec<(&str, Vec<u64>)> = Vec::new();
    for (part, count) in said.iter().zip(counts) {
        match programs.last_mut() {
            Some((last, counts)) if last == part => counts.push(count),
            _ => programs.push((part, vec![count])),
        }
    }
    let more = programs.iter().filter_map(|(part, counts)| {
        let [test, steps, threads] = part.split(' ').collect::<Vec<_>>()[..] else {
            panic!("a name and two numbers: {part}")
        };
        costs_more(test, counts, steps.parse().expect("a number"), threads == "1")
    });
    let more: Vec<String> = more.collect();
    assert!(more.is_empty() && wrong.is_none(), "{}\n{}", more.join("\n"), wrong.unwrap_or_default());
}

/// A folder for profiles, that goes with its test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let folder = env::temp_dir().join(format!("ysuite-life-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder");
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
