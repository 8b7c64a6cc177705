//! What "ØMQ Nanosecond-precision Test" says about the clocks of its time.

/// One processor of the article's table. Costs in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Processor {
    pub cpu: &'static str,
    pub gigahertz: f64,
    pub gettimeofday: f64,
    pub rdtsc: f64,
}

const fn processor(cpu: &'static str, gigahertz: f64, gettimeofday: f64, rdtsc: f64) -> Processor {
    Processor { cpu, gigahertz, gettimeofday, rdtsc }
}

pub const PROCESSORS: [Processor; 3] = [
    processor("Intel(R) Core(TM)2 Duo CPU", 1.0, 1437.0, 60.0),
    processor("AMD Athlon(TM) 64 X2 3800+", 2.0, 1932.0, 7.0),
    processor("Intel(R) Pentium(R) 4", 3.0, 103.0, 33.0),
];

/// The two message rates for which the article gives the distortion by its readings.
pub const RATES: [f64; 2] = [3e6, 1.5e6];
