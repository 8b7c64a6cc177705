//! The pictures of a session as a whole.

use ybench_measure::record::Session;

use crate::plot::{Bar, Bars, Looks, Picture};
use crate::table::{self, Tone, time};

/// The ranked bars.
pub(super) fn ranked(session: &Session, looks: &Looks) -> Option<Picture> {
    let standings = table::standings(session);
    let bar = |one: &ybench_measure::record::Contestant| {
        let ratio = table::sureness(session, &one.name)?;
        let tone = standings.iter().find(|standing| standing.name == one.name).map_or(Tone::Limit, |one| one.tone);
        let time = time(session.density(&one.name)?.median);
        Some(Bar { name: one.name.clone(), look: looks.look(&one.name), ratio, time, tone })
    };
    let rows: Vec<Bar> = table::comparable(session).into_iter().filter_map(bar).collect();
    let title = format!("{}: the time of {}", session.title(), session.unit().spoken());
    (!rows.is_empty()).then(|| Bars { title, reference: session.limit.clone(), rows }.picture())
}
