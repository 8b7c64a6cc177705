//! Kinds of channel for `ybench footprint`: those of the crates that have a channel without a bound and one with a bound,
//! both for several threads on each side.

use ybench_measure::footprint::channel::{Channel, Letter, PLACES, kinds_of_channel};
use ybench_measure::footprint::{Kind, kind};
use ybench_measure::record::Family;

/// All of them.
pub fn kinds() -> Vec<Kind> {
    vec![
        kind::<Flume>(Family::Crates, "flume"),
        kind::<FlumeBounded>(Family::Crates, "flume"),
        kind::<Kanal>(Family::Crates, "kanal"),
        kind::<KanalBounded>(Family::Crates, "kanal"),
        kind::<AsyncChannel>(Family::Crates, "async-channel"),
        kind::<AsyncChannelBounded>(Family::Crates, "async-channel"),
    ]
}

kinds_of_channel! {
    |sender, message| sender.send(message).is_ok(), |receiver| receiver.recv().ok();
    Flume: "flume-unbounded", "flume without a bound", true, ::flume::Sender<M>, ::flume::Receiver<M>,
        ::flume::unbounded();
    FlumeBounded: "flume-bounded", "flume with room for 16 messages", false, ::flume::Sender<M>, ::flume::Receiver<M>,
        ::flume::bounded(PLACES);
    Kanal: "kanal-unbounded", "kanal without a bound", true, ::kanal::Sender<M>, ::kanal::Receiver<M>,
        ::kanal::unbounded();
    KanalBounded: "kanal-bounded", "kanal with room for 16 messages", false, ::kanal::Sender<M>, ::kanal::Receiver<M>,
        ::kanal::bounded(PLACES);
}

// Its blocking functions have names of their own.
kinds_of_channel! {
    |sender, message| sender.send_blocking(message).is_ok(), |receiver| receiver.recv_blocking().ok();
    AsyncChannel: "async-channel-unbounded", "async-channel without a bound", true, ::async_channel::Sender<M>,
        ::async_channel::Receiver<M>, ::async_channel::unbounded();
    AsyncChannelBounded: "async-channel-bounded", "async-channel with room for 16 messages", false,
        ::async_channel::Sender<M>, ::async_channel::Receiver<M>, ::async_channel::bounded(PLACES);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ybench_measure::footprint::{Measured, all, offer, weighed};
    use ybench_measure::place::Place;

    #[test]
    fn every_kind_delivers() {
        offer(kinds());
        let cpu = ybench_measure::place::allowed()[0];
        let place = Place { first: cpu, second: cpu };
        // One more with the instrument's feature `sizes`.
        let figures = weighed("oneshot", Measured::Many(1), place).unwrap().split(' ').count();
        for kind in kinds() {
            assert!(all().iter().any(|one| one.name == kind.name), "{}", kind.name);
            let line = weighed(kind.name, Measured::Many(100), place).unwrap();
            assert_eq!(line.split(' ').count(), figures, "{}: {line}", kind.name);
            let burst = weighed(kind.name, Measured::Burst(1_000), place);
            assert_eq!(burst.is_ok(), kind.name.ends_with("-unbounded"), "{}", kind.name);
        }
    }
}
