//! Tests of a queue whose laps wrap: they begin shortly before that. On 32 bits a long stream gets there.
//!
//! Claim: Lap counts may wrap: the writer marks a fresh chunk for its lap, and marks a chunk again that was unused for
//! half of all laps.

use super::chunk::Geometry;
use super::{Reader, Writer, ends, ends_of_small_chunks};

/// The lap at which the sign of a lap changes, less `laps` laps.
fn before_the_middle<T>(laps: usize) -> usize {
    (isize::MAX as usize + 1).wrapping_sub(laps * Geometry::<T>::LAP)
}

/// Messages for a dozen chunks, each polled for before and after it is published.
fn goes_on<T: Copy + PartialEq + core::fmt::Debug>(writer: &mut Writer<T>, reader: &mut Reader<T>, make: fn(u8) -> T) {
    for number in 0..Geometry::<T>::SHAPE.groups * Geometry::<T>::SLOTS * 12 {
        let message = make(number as u8);
        writer.write(message).expect("there is room");
        assert_eq!((reader.len(), reader.read()), (0, None), "message {number} is hidden");
        writer.flush();
        assert_eq!((reader.len(), reader.read(), reader.read()), (1, Some(message), None), "message {number}");
    }
}

fn for_pipes<T: Copy + PartialEq + core::fmt::Debug>(make: fn(u8) -> T) {
    for laps in 1..4 {
        for lap in [before_the_middle::<T>(laps), 0_usize.wrapping_sub(laps * Geometry::<T>::LAP)] {
            for bound in [None, Some(1), Some(5), Some(10_000)] {
                let (mut writer, mut reader) = ends(bound, lap);
                goes_on(&mut writer, &mut reader, make);
            }
        }
    }
}

#[test]
fn chunks_made_beyond_half_the_laps_are_empty() {
    for_pipes(u64::from);
    for_pipes(|number| [number; 1024]);
    for_pipes(|number| [number; 40_000]);
}

/// Call when the queue is empty and its chunk is spent. Acts as if a backlog of `by` had come and gone, while the
/// chunks in the cache had been away for all that time.
fn skip<T>(writer: &mut Writer<T>, reader: &mut Reader<T>, by: usize) {
    writer.skip_laps(by);
    reader.skip_laps(by);
}

#[test]
fn chunks_that_were_away_for_half_the_laps_are_empty() {
    const SLOTS: usize = Geometry::<u64>::SLOTS;
    for by in [usize::MAX / 4, isize::MAX as usize, usize::MAX / 4 * 3].map(|by| by / Geometry::<u64>::LAP) {
        let (mut writer, mut reader) = ends_of_small_chunks::<u64>(Some(SLOTS * 2), Geometry::<u64>::LAP);
        for round in 0..6 {
            for number in 0..SLOTS {
                writer.write(number as u64).expect("there is room");
                writer.flush();
                assert_eq!(reader.read(), Some(number as u64));
            }
            if round > 2 {
                skip(&mut writer, &mut reader, by * Geometry::<u64>::LAP);
            }
            writer.write(7).expect("there is room");
            assert_eq!((reader.len(), reader.read()), (0, None), "round {round}");
            writer.flush();
            assert_eq!(reader.read(), Some(7));
            for number in 1..SLOTS {
                writer.write(number as u64).expect("there is room");
                writer.flush();
                assert_eq!((reader.read(), reader.read()), (Some(number as u64), None));
            }
        }
    }
}

#[test]
fn a_cut_holds_where_laps_wrap() {
    const SLOTS: usize = Geometry::<u64>::SLOTS;
    for laps in 1..4 {
        for lap in [before_the_middle::<u64>(laps), 0_usize.wrapping_sub(laps * Geometry::<u64>::LAP)] {
            for (before, left) in (0..SLOTS * 4).flat_map(|before| (0..=SLOTS * 2).map(move |left| (before, left))) {
                let (mut writer, mut reader) = ends_of_small_chunks::<u64>(Some(SLOTS * 2), lap);
                let send = |writer: &mut Writer<u64>, number: usize| {
                    writer.write(number as u64).expect("there is room");
                    writer.flush();
                };
                for number in 0..before {
                    send(&mut writer, number);
                    assert_eq!(reader.read(), Some(number as u64));
                }
                (0..left).for_each(|number| send(&mut writer, number));
                reader.mark_cut().pass();
                reader.cut();
                assert_eq!((reader.len(), reader.is_closed()), (left, true));
                for number in 0..left {
                    // What the writer publishes beyond the cut, over every border, it takes back.
                    while writer.write(7).is_ok() {}
                    writer.flush();
                    assert_eq!((writer.len(), reader.len()), (left - number, left - number));
                    assert!(reader.has_last());
                    assert_eq!(reader.read(), Some(number as u64));
                }
                while writer.write(7).is_ok() {}
                writer.flush();
                assert_eq!((reader.read(), reader.has_last(), reader.len(), writer.len()), (None, false, 0, 0));
            }
        }
    }
}
