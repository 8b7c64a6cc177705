//! The canvas of every picture: text, lines and shapes by the SVG backend, and what that backend cannot write:
//! thousands of dots as one path, values to hover over, a description for screen readers.
//!
//! Lengths are in units of the picture; the backend rounds to integers, so it gets finer units.

use std::fmt::Write;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::Picture;
use super::colour::{self, Colour, Look, Shape};

/// Steps of the backend in one unit of the picture.
const FINE: f64 = 4.0;

/// The width of every picture.
pub(super) const WIDTH: f64 = 500.0;

pub(super) const LETTERS: f64 = 13.0;
pub(super) const SMALL: f64 = 12.0;

const FONT: &str = "system-ui, Helvetica, Arial, sans-serif";

/// The backend divides font sizes by this.
const BACKEND_LETTERS: f64 = 1.24;

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

pub(super) struct Canvas<'a> {
    area: Area<'a>,
    over: String,
    /// The series that is being drawn, if any: hovering highlights it.
    series: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Middle,
    Right,
}

/// The corner with the smaller values, and the size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// The approximate width of a text: nothing here can measure glyphs.
pub(super) fn width_of(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.56
}

/// A picture of this height, drawn by `with`.
pub(super) fn picture(title: String, alt: String, height: f64, with: impl FnOnce(&mut Canvas<'_>)) -> Picture {
    let mut drawn = String::new();
    let fine = |length: f64| (length * FINE).round() as u32;
    let over = {
        let area = SVGBackend::with_string(&mut drawn, (fine(WIDTH), fine(height))).into_drawing_area();
        let mut canvas = Canvas { area, over: String::new(), series: None };
        with(&mut canvas);
        canvas.area.present().expect(IN_MEMORY);
        canvas.over
    };
    let body = drawn.split_once('>').map_or("", |(_, rest)| rest.trim_start());
    let body = body.trim_end().trim_end_matches("</svg>").replace('\n', "");
    let described = escaped(&format!("{title}. {alt}"));
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{described}\">{body}{over}</svg>",
        fine(WIDTH),
        fine(height),
    );
    Picture { title, alt, svg: colour::named(&svg) }
}

/// Nothing is written to a device, and no glyphs are measured.
const IN_MEMORY: &str = "a picture is drawn in memory";

/// The picture with its title above it and a white background.
pub(super) fn titled(svg: &str, title: &str) -> String {
    const HEAD: f64 = 44.0;
    let numbers = svg.split_once("viewBox=\"").and_then(|(_, rest)| rest.split_once('"'));
    let mut sides = numbers.map_or("", |(numbers, _)| numbers).split(' ').skip(2).filter_map(|n| n.parse::<f64>().ok());
    let (width, height) = (sides.next().unwrap_or(0.0), sides.next().unwrap_or(0.0) + HEAD * FINE);
    let (head, rest) = svg.split_once('>').unwrap_or((svg, ""));
    let head = head.split_once(" viewBox").map_or(head, |(before, _)| before);
    let title = escaped(title);
    let label =
        svg.split_once("aria-label=\"").and_then(|(_, rest)| rest.split_once('"')).map_or("", |(label, _)| label);
    format!(
        "{head} width=\"{}\" height=\"{}\" viewBox=\"0 {} {width} {height}\" role=\"img\"><title>{title}</title><desc>{label}</desc>\
         <rect x=\"0\" y=\"{}\" width=\"{width}\" height=\"{height}\" fill=\"var(--paper)\"/>\
         <text x=\"{}\" y=\"{}\" font-family=\"{FONT}\" font-size=\"{}\" font-weight=\"600\" fill=\"var(--ink)\">{title}</text>{rest}",
        width / FINE * 1.5,
        height / FINE * 1.5,
        -HEAD * FINE,
        -HEAD * FINE,
        12.0 * FINE,
        -16.0 * FINE,
        16.0 * FINE,
    )
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn fine(length: f64) -> i32 {
    (length * FINE).round() as i32
}

impl Canvas<'_> {
    /// All further drawing over the picture belongs to this series.
    pub(super) fn series(&mut self, series: Option<usize>) {
        self.series = series;
    }

    fn tag(&self) -> String {
        self.series.map_or(String::new(), |series| format!(" data-s=\"{series}\""))
    }

    /// A text that belongs to the series.
    pub(super) fn over_text(&mut self, text: &str, (x, y): (f64, f64), size: f64, colour: Colour) {
        let tag = self.tag();
        let _ = write!(
            self.over,
            "<text{tag} x=\"{}\" y=\"{}\" dy=\".35em\" font-family=\"{FONT}\" font-size=\"{}\" fill=\"var(--{})\">{}</text>",
            fine(x),
            fine(y),
            size * FINE,
            colour.name(),
            escaped(text),
        );
    }

    pub(super) fn text(&mut self, text: &str, (x, y): (f64, f64), side: Side, size: f64, colour: Colour) {
        self.styled(text, (x, y), side, size, colour, false);
    }

    pub(super) fn bold(&mut self, text: &str, at: (f64, f64), side: Side, size: f64, colour: Colour) {
        self.styled(text, at, side, size, colour, true);
    }

    fn styled(&mut self, text: &str, (x, y): (f64, f64), side: Side, size: f64, colour: Colour, bold: bool) {
        let h = match side {
            Side::Left => HPos::Left,
            Side::Middle => HPos::Center,
            Side::Right => HPos::Right,
        };
        let style = if bold { FontStyle::Bold } else { FontStyle::Normal };
        let font = (FONT, size * FINE * BACKEND_LETTERS, style).into_font();
        let colour = colour.drawn();
        let style = TextStyle::from(font).color(&colour).pos(Pos::new(h, VPos::Center));
        self.area.draw(&Text::new(text.to_owned(), (fine(x), fine(y)), style)).expect(IN_MEMORY);
    }

    /// Through all the points, `width` wide.
    pub(super) fn line(&mut self, points: &[(f64, f64)], colour: Colour, width: f64, strength: f64) {
        let points: Vec<(i32, i32)> = points.iter().map(|(x, y)| (fine(*x), fine(*y))).collect();
        let style = colour.drawn().mix(strength).stroke_width(fine(width) as u32);
        self.area.draw(&PathElement::new(points, style)).expect(IN_MEMORY);
    }

    pub(super) fn area(&mut self, points: &[(f64, f64)], colour: Colour, strength: f64) {
        let points: Vec<(i32, i32)> = points.iter().map(|(x, y)| (fine(*x), fine(*y))).collect();
        self.area.draw(&Polygon::new(points, colour.drawn().mix(strength))).expect(IN_MEMORY);
    }

    pub(super) fn rect(&mut self, rect: Rect, colour: Colour, strength: f64) {
        let corners = [(fine(rect.x), fine(rect.y)), (fine(rect.x + rect.width), fine(rect.y + rect.height))];
        self.area.draw(&Rectangle::new(corners, colour.drawn().mix(strength).filled())).expect(IN_MEMORY);
    }

    /// A line in the style of its look: solid, dashed or dotted.
    pub(super) fn look_line(&mut self, points: &[(f64, f64)], look: Look, width: f64) {
        let dashes = match look.shape {
            Shape::Circle => "",
            Shape::Square => " stroke-dasharray=\"24 12\"",
            Shape::Triangle => " stroke-dasharray=\"6 12\"",
            Shape::Diamond => " stroke-dasharray=\"24 8 6 8\"",
            Shape::Hexagon => " stroke-dasharray=\"40 8\"",
            Shape::Wedge => " stroke-dasharray=\"12 6\"",
            Shape::Pentagon => " stroke-dasharray=\"24 4 4 4\"",
        };
        let tag = self.tag();
        let _ = write!(
            self.over,
            "<path{tag} fill=\"none\" stroke=\"var(--{})\" stroke-width=\"{}\" stroke-linejoin=\"round\"{dashes} d=\"",
            look.colour.name(),
            fine(width)
        );
        for (at, (x, y)) in points.iter().enumerate() {
            let _ = write!(self.over, "{}{} {}", if at == 0 { "M" } else { "L" }, fine(*x), fine(*y));
        }
        self.over.push_str("\"/>");
    }

    pub(super) fn marker(&mut self, (x, y): (f64, f64), look: Look, size: f64) {
        // The number of corners, their distance from the middle, and the rotation as a share of the angle between two.
        let (corners, size, turned) = match look.shape {
            Shape::Circle => (16, size, 0.0),
            Shape::Square => (4, size * 1.2, 0.5),
            Shape::Triangle => (3, size * 1.3, 0.0),
            Shape::Diamond => (4, size * 1.3, 0.0),
            Shape::Hexagon => (6, size * 1.15, 0.0),
            Shape::Wedge => (3, size * 1.3, 0.5),
            Shape::Pentagon => (5, size * 1.2, 0.5),
        };
        let mut points = String::new();
        for corner in 0..corners {
            let angle = std::f64::consts::TAU * (f64::from(corner) + turned) / f64::from(corners);
            let _ = write!(points, "{},{} ", fine(x + size * angle.sin()), fine(y - size * angle.cos()));
        }
        let tag = self.tag();
        let _ = write!(
            self.over,
            "<polygon{tag} fill=\"var(--{})\" points=\"{}\"/>",
            look.colour.name(),
            points.trim_end()
        );
    }

    /// Many small dots; overlapping ones are drawn once.
    pub(super) fn dots(&mut self, points: &[(f64, f64)], colour: Colour, size: f64) {
        let mut places: Vec<(i32, i32)> = points.iter().map(|(x, y)| (fine(*x), fine(*y))).collect();
        places.sort_unstable();
        places.dedup();
        let _ = write!(
            self.over,
            "<path fill=\"none\" stroke=\"var(--{})\" stroke-opacity=\".6\" stroke-width=\"{}\" stroke-linecap=\"round\" d=\"",
            colour.name(),
            fine(size)
        );
        for (x, y) in places {
            let _ = write!(self.over, "M{x} {y}h0");
        }
        self.over.push_str("\"/>");
    }

    /// A hairline above everything drawn so far.
    pub(super) fn over_line(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour) {
        self.look_line(&[from, to], Look::plain(colour), 1.0);
    }

    /// A small label above everything drawn so far, on a background of that width.
    pub(super) fn over_label(&mut self, text: &str, (x, y): (f64, f64), width: f64) {
        let _ = write!(
            self.over,
            "<rect fill=\"var(--paper)\" fill-opacity=\".8\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-family=\"{FONT}\" font-size=\"{}\" fill=\"var(--ink)\">{}</text>",
            fine(x),
            fine(y),
            fine(width),
            fine(15.0),
            fine(x + width / 2.0),
            fine(y + 11.5),
            SMALL * FINE,
            escaped(text),
        );
    }

    pub(super) fn ring(&mut self, (x, y): (f64, f64), radius: f64, colour: Colour) {
        let _ = write!(
            self.over,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"var(--paper)\" stroke=\"var(--{})\" stroke-width=\"{}\"/>",
            fine(x),
            fine(y),
            fine(radius),
            colour.name(),
            fine(1.25),
        );
    }

    /// An area that shows a text on hovering.
    pub(super) fn hit(&mut self, rect: Rect, text: &str) {
        let tag = self.tag();
        let _ = write!(
            self.over,
            "<rect class=\"hit\"{tag} fill=\"transparent\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>",
            fine(rect.x),
            fine(rect.y),
            fine(rect.width).max(1),
            fine(rect.height).max(1),
            escaped(text),
        );
    }
}
