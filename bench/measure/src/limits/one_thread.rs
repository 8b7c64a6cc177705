//! One thread that writes to and reads from one ypipe: the instructions of a queue, without the distance between two
//! caches.
//!
//! ```text
//!   write, flush x 512, then read x 512, again and again, all in the nearest cache
//! ```

use std::time::Instant;

use ysuite::queue::ypipe;

use crate::error::Fault;
use crate::place::Place;
use crate::stage::{Part, Span, Timed, ensemble, solo};

const AT_ONCE: usize = 512;

pub fn ypipe(place: Place, messages: u64) -> Result<Timed, Fault> {
    solo(place.first, move || there_and_back(messages))?
}

/// The same on every CPU at once, each with a ypipe of its own and its share of the messages.
pub fn ypipe_on_every_cpu(place: Place, messages: u64) -> Result<Timed, Fault> {
    let cpus = place.cpus();
    let share = messages.div_ceil(cpus.len() as u64);
    let part = |cpu: &usize| {
        Part::new(&[*cpu], move |gate| {
            gate.pass();
            let start = Instant::now();
            let units = there_and_back(share)?.units;
            Ok(Span { start, end: Instant::now(), units })
        })
    };
    let spans = ensemble(messages, cpus.iter().map(part).collect())?;
    Ok(Span::over(&spans.into_iter().collect::<Result<Vec<_>, Fault>>()?))
}

fn there_and_back(messages: u64) -> Result<Timed, Fault> {
    let (mut writer, mut reader) = ypipe::unbounded::<usize>();
    let times = messages.div_ceil(AT_ONCE as u64).max(1) as usize;
    let start = Instant::now();
    for time in 0..times {
        let first = time * AT_ONCE;
        for message in first..first + AT_ONCE {
            if writer.write(message).is_err() {
                return Err(Fault::Lost { expected: message });
            }
            // The reader is this thread, which never sleeps.
            let _ = writer.flush();
        }
        for expected in first..first + AT_ONCE {
            match reader.read() {
                Some(message) if message == expected => {}
                Some(received) => return Err(Fault::OutOfOrder { expected, received }),
                None => return Err(Fault::Lost { expected }),
            }
        }
    }
    Ok(Timed { elapsed: start.elapsed(), units: (times * AT_ONCE) as u64 })
}
