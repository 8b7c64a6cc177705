//! The comparison: all layouts in turn in every round, each message checked, a table of medians.

use std::time::{Duration, Instant};

use ybench_measure::env::{Built, Environment};
use ybench_measure::error::{Error, Fault};
use ybench_measure::figures::{figure, interval};
use ybench_measure::place::Place;
use ybench_measure::stage::{Timed, duet, solo};
use ybench_measure::stats::{Spread, ratio};

/// A queue of words for one writer and one reader.
pub(crate) trait Layout {
    type Writer: Writer + 'static;
    type Reader: Reader + 'static;

    fn pair() -> (Self::Writer, Self::Reader);
}

pub(crate) trait Writer: Send {
    /// Writes and publishes. A layout with a bound spins while it is full.
    fn write(&mut self, value: u64);
}

pub(crate) trait Reader: Send {
    fn read(&mut self) -> Option<u64>;
}

pub(crate) struct Contender {
    name: &'static str,
    prefetch: usize,
    streamed: fn(Place, u64) -> Result<Timed, Fault>,
    alone: fn(Place, u64) -> Result<Timed, Fault>,
}

pub(crate) fn contender<L: Layout>(name: &'static str, prefetch: usize) -> Contender {
    Contender { name, prefetch, streamed: streamed::<L>, alone: alone::<L> }
}

pub(crate) fn rtrb() -> Contender {
    contender::<Rtrb>("rtrb, 65,536 slots", 0)
}

/// From the first write to the last read, between two CPUs.
fn streamed<L: Layout>(place: Place, messages: u64) -> Result<Timed, Fault> {
    let (mut writer, mut reader) = L::pair();
    let (start, end) = duet(
        place,
        messages,
        move |gate| {
            gate.pass();
            let start = Instant::now();
            for message in 0..messages {
                writer.write(message);
            }
            start
        },
        move |gate| {
            gate.pass();
            for expected in 0..messages {
                let received = loop {
                    if let Some(message) = reader.read() {
                        break message;
                    }
                    std::hint::spin_loop();
                };
                if received != expected {
                    return Err(Fault::OutOfOrder { expected: expected as usize, received: received as usize });
                }
            }
            Ok(Instant::now())
        },
    )?;
    Ok(Timed::between(start, end?, messages))
}

/// Few enough for every ring here, and for the nearest cache.
const AT_ONCE: u64 = 500;

/// One thread as writer and reader: the instructions alone.
fn alone<L: Layout>(place: Place, messages: u64) -> Result<Timed, Fault> {
    solo(place.first, move || {
        let (mut writer, mut reader) = L::pair();
        let times = messages.div_ceil(AT_ONCE);
        let start = Instant::now();
        for first in (0..times).map(|time| time * AT_ONCE) {
            for message in first..first + AT_ONCE {
                writer.write(message);
            }
            for expected in first..first + AT_ONCE {
                match reader.read() {
                    Some(message) if message == expected => {}
                    _ => return Err(Fault::Lost { expected: expected as usize }),
                }
            }
        }
        Ok(Timed { elapsed: start.elapsed(), units: times * AT_ONCE })
    })?
}

pub(crate) fn run(contenders: &[Contender], messages: u64, rounds: u64) -> Result<(), Error> {
    let place = Place::choose(None)?;
    if place.one_cpu() {
        return Err(Error::Refused("Two CPUs are needed: both sides spin.".to_owned()));
    }
    println!("{}", Environment::capture(Built::default()).in_words());
    println!("{messages} messages of 8 bytes in each run, {rounds} rounds, median, nanoseconds per message\n");
    let mut streamed = vec![Vec::new(); contenders.len()];
    let mut alone = vec![Vec::new(); contenders.len()];
    for round in 0..=rounds {
        for at in 0..contenders.len() {
            let number = (at + round as usize) % contenders.len();
            let contender = &contenders[number];
            let name = |fault| Error::Broken { contender: contender.name.to_owned(), fault };
            let figures = [
                (contender.streamed)(place, messages).map_err(name)?.nanoseconds_per_unit(),
                (contender.alone)(place, messages.div_ceil(4)).map_err(name)?.nanoseconds_per_unit(),
            ];
            // Round 0 is the warm-up.
            if round > 0 {
                streamed[number].push(Some(figures[0]));
                alone[number].push(Some(figures[1]));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    print_table(contenders, &streamed, &alone);
    Ok(())
}

type Series = Vec<Option<f64>>;

fn print_table(contenders: &[Contender], streamed: &[Series], alone: &[Series]) {
    let head = ["layout", "prefetch", "two CPUs", "min .. max", "times rtrb", "min .. max", "one thread"];
    print_row(head.map(str::to_owned));
    let spread = |series: &Series| Spread::of(&series.iter().copied().flatten().collect::<Vec<_>>());
    for (number, contender) in contenders.iter().enumerate() {
        let (Some(figures), Some(times), Some(instructions)) =
            (spread(&streamed[number]), ratio(&streamed[number], &streamed[0]), spread(&alone[number]))
        else {
            continue;
        };
        print_row([
            contender.name.to_owned(),
            if contender.prefetch == 0 { "none".to_owned() } else { contender.prefetch.to_string() },
            figure(figures.median),
            interval(figures),
            figure(times.median),
            interval(times),
            figure(instructions.median),
        ]);
    }
}

fn print_row([layout, prefetch, figures @ ..]: [String; 7]) {
    let figures: Vec<String> = figures.iter().map(|figure| format!("{figure:>14}")).collect();
    println!("{layout:<24}{prefetch:>9}{}", figures.concat());
}

struct Rtrb;

impl Layout for Rtrb {
    type Writer = rtrb::Producer<u64>;
    type Reader = rtrb::Consumer<u64>;

    fn pair() -> (Self::Writer, Self::Reader) {
        rtrb::RingBuffer::new(65_536)
    }
}

impl Writer for rtrb::Producer<u64> {
    #[inline]
    fn write(&mut self, value: u64) {
        while self.push(value).is_err() {
            std::hint::spin_loop();
        }
    }
}

impl Reader for rtrb::Consumer<u64> {
    #[inline]
    fn read(&mut self) -> Option<u64> {
        self.pop().ok()
    }
}
