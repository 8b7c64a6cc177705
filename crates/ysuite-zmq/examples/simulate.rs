//! What many channels over many machines would cost, by simulation: `simulate [SEED [KIB [FRAME_NS [MESSAGE_NS]]]]`. The same seed says
//! the same. The costs are those of one bridge and of what goes through it, as `scale` and `ybench` measure them.
//!
//! Each channel goes from one machine to another, both drawn, and carries messages at random times. A bridge polls once
//! in a tenth of a millisecond and makes a frame of what has come. Frames, messages, and the CPU time for both are
//! counted, at both sides of every hop. Then one machine dies and comes back, and all that were connected to it try
//! again as libzmq does.

use std::collections::BTreeMap;

/// Of one bridge: descriptors, threads, memory; of a frame and of a message in it: CPU time on each side.
#[derive(Clone, Copy)]
struct Costs {
    descriptors: f64,
    threads: f64,
    kib: f64,
    frame_ns: f64,
    message_ns: f64,
}

/// Messages a second in each channel.
const RATE: f64 = 1_000.0;
/// Between two polls of a bridge.
const LOOK: f64 = 100e-6;
const LOOKS: usize = 100;
/// Machines that share one in the middle.
const ROOM: usize = 32;
/// How long the dead machine is away.
const AWAY: f64 = 10.0;

#[derive(Clone, Copy)]
enum Topology {
    EachItsOwn,
    PairsShare,
    Middles,
}

/// A connection between two machines: how many channels go over it. It has a bridge on each side.
type Links = BTreeMap<(usize, usize, usize), usize>;

/// The connections of the channels. Machines in the middle come after the others.
fn links(topology: Topology, machines: usize, channels: &[(usize, usize)]) -> Links {
    let mut links = Links::new();
    let mut over = |one: usize, other: usize, number: usize| {
        *links.entry((one.min(other), one.max(other), number)).or_default() += 1;
    };
    for (number, &(from, to)) in channels.iter().enumerate() {
        let (near, far) = (machines + from / ROOM, machines + to / ROOM);
        match topology {
            Topology::EachItsOwn => over(from, to, number),
            Topology::PairsShare => over(from, to, 0),
            Topology::Middles => {
                over(from, near, 0);
                if near != far {
                    over(near, far, 0);
                }
                over(far, to, 0);
            }
        }
    }
    links
}

/// A random number of events with this mean.
fn poisson(mean: f64, random: &mut fastrand::Rng) -> f64 {
    // In large numbers as good as normal: the sum of twelve even ones.
    if mean > 30.0 {
        let normal = (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
        return (mean + normal * mean.sqrt()).round().max(0.0);
    }
    let (limit, mut product, mut count) = ((-mean).exp(), random.f64(), 0.0);
    while product > limit {
        product *= random.f64();
        count += 1.0;
    }
    count
}

/// Of one machine.
#[derive(Clone, Copy, Default)]
struct Load {
    bridges: f64,
    frames: f64,
    messages: f64,
}

impl Load {
    fn cpus(&self, costs: Costs) -> f64 {
        (self.frames * costs.frame_ns + self.messages * costs.message_ns) / 1e9
    }
}

fn loads(links: &Links, random: &mut fastrand::Rng) -> BTreeMap<usize, Load> {
    let mut loads = BTreeMap::<usize, Load>::new();
    for (&(one, other, _), &channels) in links {
        let (mut frames, mut messages) = (0.0, 0.0);
        for _ in 0..LOOKS {
            let came = poisson(channels as f64 * RATE * LOOK, random);
            frames += f64::from(came > 0.0);
            messages += came;
        }
        let second = 1.0 / (LOOKS as f64 * LOOK);
        for machine in [one, other] {
            let load = loads.entry(machine).or_default();
            load.bridges += 1.0;
            load.frames += frames * second;
            load.messages += messages * second;
        }
    }
    loads
}

/// When the last of `connections` is back, after the machine is: each tries after 0.1 s, then twice as long, up to 5
/// s, and a little by chance.
fn recovery(connections: usize, random: &mut fastrand::Rng) -> f64 {
    let back = |random: &mut fastrand::Rng| {
        let (mut now, mut pause) = (0.0, 0.1f64);
        while now < AWAY {
            now += pause + 0.1 * random.f64();
            pause = (pause * 2.0).min(5.0);
        }
        now - AWAY
    };
    (0..connections).map(|_| back(random)).fold(0.0, f64::max)
}

fn main() {
    let mut words = std::env::args().skip(1).map(|word| word.parse::<f64>().expect("a number"));
    let mut next = |or: f64| words.next().unwrap_or(or);
    let seed = next(1.0) as u64;
    let costs =
        Costs { kib: next(110.0), descriptors: 6.5, threads: 1.0, frame_ns: next(400.0), message_ns: next(20.0) };
    println!("{RATE} messages a second in each channel; of the machine that has most of each, seed {seed}");
    println!(
        "channels machines topology      bridges threads descriptors    MiB  frames/s messages/s CPUs  back after"
    );
    for (count, machines) in [(10, 2), (1_000, 10), (100_000, 100), (100_000, 1_000)] {
        let mut random = fastrand::Rng::with_seed(seed);
        let pair = |random: &mut fastrand::Rng| {
            let from = random.usize(0..machines);
            (from, (from + random.usize(1..machines)) % machines)
        };
        let channels: Vec<_> = (0..count).map(|_| pair(&mut random)).collect();
        let topologies = [
            (Topology::EachItsOwn, "each its own"),
            (Topology::PairsShare, "pairs share"),
            (Topology::Middles, "middles"),
        ];
        for (topology, name) in topologies {
            let links = links(topology, machines, &channels);
            let loads = loads(&links, &mut random);
            let most = |of: &dyn Fn(&Load) -> f64| loads.values().map(of).fold(0.0, f64::max);
            let bridges = most(&|load| load.bridges);
            let dead = links.keys().filter(|(one, other, _)| *one == 0 || *other == 0).count();
            println!(
                "{count:>8} {machines:>8} {name:<13} {bridges:>7} {:>7.0} {:>11.0} {:>6.1} {:>9.0} {:>10.0} {:>4.1} {:>9.1} s",
                bridges * costs.threads,
                bridges * costs.descriptors,
                bridges * costs.kib / 1024.0,
                most(&|load| load.frames),
                most(&|load| load.messages),
                most(&|load| load.cpus(costs)),
                recovery(dead, &mut random),
            );
        }
    }
}
