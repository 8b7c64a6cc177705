use ybench_measure::distribution::Distribution;
use ybench_measure::registry;
use ybench_measure::stats::Spread;
use ybench_measure::trace::Trace;

use super::*;
use crate::table::{Tone, figure};

fn spread(median: f64) -> Spread {
    Spread { median, min: median * 0.9, max: median * 1.1 }
}

fn times(scale: f64) -> Distribution {
    (0..2_000).map(|n| scale * (1.0 + f64::from(n % 97) / 40.0)).chain([scale * 900.0]).collect()
}

fn trace() -> Trace {
    Trace::of(&(0..5_000).map(|n| 100.0 + f64::from(n)).collect::<Vec<_>>())
}

/// One of each kind with figures, and one of each kind without.
fn all() -> Vec<Picture> {
    let (quick, slow, empty) = (times(40.0), times(4_000.0), Distribution::default());
    let one = |label: &'static str, times| Shown { label, look: Look::number(label.len()), times };
    let shown = || vec![one("quick & <dirty>", &quick), one("slow", &slow), one("empty", &empty)];
    let (trace, nothing) = (trace(), Trace::default());
    let row = |name: &str, median: f64, tone| Bar {
        name: name.into(),
        look: Look::number(0),
        ratio: spread(median),
        time: "40 ns".into(),
        tone,
    };
    let rows = vec![row("a", 1.4, Tone::Leader), row("b", 1.5, Tone::Tied), row("futex", 90.0, Tone::Limit)];
    let sweep = |lines| Sweep {
        title: "Sweep".into(),
        x_label: "bytes".into(),
        y_label: "ns per message".into(),
        x_form: figure,
        y_form: figure,
        y_log: true,
        lines,
        band: None,
    };
    let points = [8.0, 64.0, 512.0].map(|x| Point { x, y: spread(x * 2.0) }).to_vec();
    let rise =
        |trace| Growth { title: "Growth".into(), rises: vec![Rise { label: "a", look: Look::number(1), trace }] };
    let scatter = |trace, median| Scatter { title: "Single".into(), look: Look::number(2), trace, median, range: None };
    vec![
        Bars { title: "Ranked".into(), reference: "floor".into(), rows }.picture(),
        Bars { title: "Ranked".into(), reference: "floor".into(), rows: Vec::new() }.picture(),
        Histogram { title: "Times".into(), series: shown() }.picture(),
        Histogram { title: "Times".into(), series: Vec::new() }.picture(),
        Ridges { title: "Times".into(), series: shown() }.picture(),
        Ridges { title: "Times".into(), series: Vec::new() }.picture(),
        Percentiles { title: "Tail".into(), series: shown() }.picture(),
        Percentiles { title: "Tail".into(), series: Vec::new() }.picture(),
        scatter(&trace, Some(2_600.0)).picture(),
        scatter(&nothing, None).picture(),
        rise(&trace).picture(),
        rise(&nothing).picture(),
        sweep(vec![Swept { label: "a".into(), look: Look::number(9), points }]).picture(),
        sweep(Vec::new()).picture(),
    ]
}

#[test]
fn every_picture_says_what_it_shows() {
    for picture in all() {
        assert!(picture.alt.ends_with('.') && picture.alt.len() > 20, "{}", picture.alt);
        assert!(picture.svg.starts_with("<svg ") && picture.svg.ends_with("</svg>"));
        assert!(picture.svg.contains("role=\"img\" aria-label=\""), "{}", picture.title);
    }
}

#[test]
fn no_picture_has_figures_that_are_none() {
    for picture in all() {
        for word in ["NaN", "inf", "#FEDC"] {
            assert!(!picture.svg.contains(word), "{}: {word}", picture.title);
        }
    }
}

#[test]
fn a_standalone_picture_has_colours_and_no_variables() {
    for picture in all() {
        let file = picture.standalone();
        assert!(!file.contains("var(--") && file.contains("#ffffff") && file.contains("<title>"), "{}", picture.title);
        assert_eq!(file.matches("<svg").count(), 1);
    }
}

#[test]
fn names_cannot_break_out_of_a_picture() {
    let text: String = all().into_iter().map(|picture| picture.svg).collect();
    assert!(text.contains("quick &amp; &lt;dirty&gt;") && !text.contains("<dirty>"));
}

#[test]
fn a_transport_looks_the_same_everywhere_and_like_no_other() {
    let looks: Vec<Look> = (0..56).map(Look::number).collect();
    let on_the_screen = registry::all().iter().filter(|entry| !entry.traits.variant && !entry.traits.hidden).count();
    assert!(on_the_screen <= looks.len(), "{on_the_screen}");
    for (at, look) in looks.iter().enumerate() {
        assert!(!looks[..at].contains(look), "{at}");
    }
    assert_eq!(Look::number(56), looks[0]);
}

#[test]
fn light_and_dark_have_the_same_variables() {
    let names = |css: String| -> Vec<String> {
        css.split(';').filter_map(|one| Some(one.split_once(':')?.0.to_owned())).collect()
    };
    assert_eq!(names(colour_variables(false)), names(colour_variables(true)));
    assert_ne!(colour_variables(false), colour_variables(true));
}
