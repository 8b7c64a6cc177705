//! Compares ways of laying out a queue of 8-byte messages sent one by one: evidence for the choice in `ysuite`.
//!
//! `cargo run --release -p ybench-measure --example layouts [MESSAGES [ROUNDS]]`
//!
//! | layout | the writer's published position |
//! |---|---|
//! | line, one cursor | in the first word of each cache line, before seven messages; handles hold one pointer |
//! | line, cursor and stop | the same; each handle also holds the address at which it must check again |
//! | slot | in a word next to each message |
//! | index | in one shared tail index, in a ring |
//! | rtrb | in one shared tail index, in a ring; the baseline |
//!
//! All except rtrb publish each message at once, and then check whether the reader sleeps, as a queue that can sleep
//! must. Prefetch: the number of lines ahead of the writer that are requested with intent to write. Competitors run in
//! turn in every round; the ratio to rtrb is formed inside the round. Every message is checked.

#[cfg(target_os = "linux")]
mod chunks;
#[cfg(target_os = "linux")]
mod contest;
#[cfg(target_os = "linux")]
mod index;
#[cfg(target_os = "linux")]
mod line;
#[cfg(target_os = "linux")]
mod line_stop;
#[cfg(target_os = "linux")]
mod slot;

#[cfg(target_os = "linux")]
fn main() -> Result<(), ybench_measure::error::Error> {
    use contest::{Contender, contender, rtrb};
    use index::Index;
    use line::Line;
    use line_stop::LineStop;
    use slot::Slot;

    let contenders: Vec<Contender> = vec![
        rtrb(),
        contender::<Line<0>>("line, one cursor", 0),
        contender::<Line<4>>("line, one cursor", 4),
        contender::<Line<8>>("line, one cursor", 8),
        contender::<Line<16>>("line, one cursor", 16),
        contender::<LineStop<0>>("line, cursor and stop", 0),
        contender::<LineStop<4>>("line, cursor and stop", 4),
        contender::<LineStop<8>>("line, cursor and stop", 8),
        contender::<LineStop<16>>("line, cursor and stop", 16),
        contender::<Slot<0>>("slot", 0),
        contender::<Slot<4>>("slot", 4),
        contender::<Slot<8>>("slot", 8),
        contender::<Slot<16>>("slot", 16),
        contender::<Index<512, 0>>("index, 512 slots", 0),
        contender::<Index<512, 8>>("index, 512 slots", 8),
        contender::<Index<65_536, 0>>("index, 65,536 slots", 0),
        contender::<Index<65_536, 4>>("index, 65,536 slots", 4),
        contender::<Index<65_536, 8>>("index, 65,536 slots", 8),
        contender::<Index<65_536, 16>>("index, 65,536 slots", 16),
    ];
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default| arguments.get(at).map_or(Some(default), |text| text.parse().ok());
    match (number(0, 20_000_000), number(1, 7)) {
        (Some(messages @ 1..), Some(rounds @ 1..)) => contest::run(&contenders, messages, rounds),
        _ => Err(ybench_measure::error::Error::Refused("Give a number of messages and a number of rounds.".to_owned())),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("This comparison pins its threads, and so runs on Linux only.");
}
