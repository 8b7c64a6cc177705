//! The colours of all pictures, and the colour of each transport: the same one throughout a report.
//!
//! Eight hues that colour-blind readers can distinguish, of different lightness for print in grey. If there are more
//! transports than hues, they also differ in their markers and in the dashes of their lines.
//!
//! The SVG backend knows only numeric colours. So each is drawn as a number, which is then replaced by the name of its
//! variable.

use std::collections::BTreeMap;

use plotters::style::RGBColor;

use ybench_measure::record::Report;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    Ink,
    Faint,
    Grid,
    Band,
    Paper,
    Blue,
    Vermilion,
    Green,
    Purple,
    Amber,
    Sky,
    Wine,
    Olive,
}

/// Name of the variable, colour on a light page, colour on a dark page; in the order of [`Colour`].
const TABLE: [(&str, &str, &str); 13] = [
    ("ink", "#1f2328", "#e6e6e3"),
    ("faint", "#656c74", "#9aa0a6"),
    ("grid", "#e4e6e8", "#33373c"),
    ("band", "#f1f3f5", "#24282d"),
    ("paper", "#ffffff", "#16191c"),
    ("blue", "#0067a8", "#5bb0ee"),
    ("vermilion", "#cf5200", "#ff8b4d"),
    ("green", "#00875f", "#3ecf9f"),
    ("purple", "#b3478f", "#e793c8"),
    ("amber", "#b98200", "#ecbe4b"),
    ("sky", "#3d9bd1", "#9bd7fa"),
    ("wine", "#7d1d4f", "#d7719f"),
    ("olive", "#5f6b00", "#b9c559"),
];

const HUES: [Colour; 8] = [
    Colour::Blue,
    Colour::Vermilion,
    Colour::Green,
    Colour::Purple,
    Colour::Amber,
    Colour::Sky,
    Colour::Wine,
    Colour::Olive,
];

impl Colour {
    /// The name of its CSS variable, without the dashes.
    pub fn name(self) -> &'static str {
        TABLE[self as usize].0
    }

    /// Its number in a drawing.
    pub(super) fn drawn(self) -> RGBColor {
        RGBColor(0xFE, 0xDC, self as u8)
    }
}

/// Replaces every drawn colour by the name of its variable.
pub(super) fn named(svg: &str) -> String {
    let mut text = svg.to_owned();
    for (at, (name, ..)) in TABLE.iter().enumerate() {
        text = text.replace(&format!("#FEDC{at:02X}"), &format!("var(--{name})"));
    }
    text
}

/// Replaces every variable by its colour on a light page.
pub(super) fn fixed(svg: &str) -> String {
    TABLE.iter().fold(svg.to_owned(), |text, (name, light, _)| text.replace(&format!("var(--{name})"), light))
}

pub(super) fn variables(dark: bool) -> String {
    let declared = TABLE.iter().map(|(name, light, night)| format!("--{name}:{};", if dark { night } else { light }));
    declared.collect()
}

/// Distinguishes lines without colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
    Hexagon,
    Wedge,
    Pentagon,
}

impl Shape {
    const ALL: [Self; 7] =
        [Self::Circle, Self::Square, Self::Triangle, Self::Diamond, Self::Hexagon, Self::Wedge, Self::Pentagon];
}

/// How a transport is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    pub colour: Colour,
    pub shape: Shape,
}

impl Look {
    pub const fn plain(colour: Colour) -> Self {
        Self { colour, shape: Shape::Circle }
    }

    /// The look of that number; looks repeat after all combinations of hues and shapes.
    pub fn number(number: usize) -> Self {
        Self { colour: HUES[number % HUES.len()], shape: Shape::ALL[number / HUES.len() % Shape::ALL.len()] }
    }

    /// Its marker as a letter, for text.
    pub fn letter(self) -> &'static str {
        match self.shape {
            Shape::Circle => "●",
            Shape::Square => "■",
            Shape::Triangle => "▲",
            Shape::Diamond => "◆",
            Shape::Hexagon => "⬢",
            Shape::Wedge => "▼",
            Shape::Pentagon => "⬟",
        }
    }
}

/// The look of each transport, and its description.
#[derive(Clone, Debug, Default)]
pub struct Looks(BTreeMap<String, (Look, String)>);

impl Looks {
    /// In order of appearance.
    pub fn of<'a>(reports: impl IntoIterator<Item = &'a Report>) -> Self {
        let mut looks = Self::default();
        for session in reports.into_iter().flat_map(|report| &report.sessions) {
            for one in session.transports() {
                let number = looks.0.len();
                let known = || (Look::number(number), one.explained.clone());
                looks.0.entry(one.name.clone()).or_insert_with(known);
            }
        }
        looks
    }

    /// Baselines and everything else that is no transport are grey.
    pub fn look(&self, name: &str) -> Look {
        self.0.get(name).map_or(Look::plain(Colour::Faint), |(look, _)| *look)
    }

    /// The description of a transport, shown on hovering over its name.
    pub fn explained(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |(_, explained)| explained)
    }
}
