//! The pictures of a session as a whole.

use ybench_core::record::Session;

use crate::plot::{Bar, Bars, Looks, Picture};
use crate::table::{self, Tone, figure};

/// The ranked bars.
pub(super) fn ranked(session: &Session, looks: &Looks) -> Option<Picture> {
    let standings = table::standings(session);
    let bar = |one: &ybench_core::record::Contestant| {
        let ratio = table::sureness(session, &one.name)?;
        let tone = standings.iter().find(|standing| standing.name == one.name).map_or(Tone::Limit, |one| one.tone);
        let median = session.density(&one.name)?.median;
        let note = format!("{} {}", figure(median), one.unit.per());
        Some(Bar { name: one.name.clone(), look: looks.look(&one.name), ratio, note, tone })
    };
    let rows: Vec<Bar> = table::comparable(session).into_iter().filter_map(bar).collect();
    let title = format!("{}: times the limit", session.title());
    (!rows.is_empty()).then(|| Bars { title, limit: session.limit.clone(), rows }.picture())
}
