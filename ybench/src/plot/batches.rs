//! The batch sweep of the y-suite article: lines over a doubling x axis, as a file of its own. Pure; the caller writes it.

use plotters::prelude::*;
use plotters::series::DashedLineSeries;
use ybench_core::stats::Spread;

use crate::table;

/// One measured line: a figure for each power of two.
pub struct Line {
    pub label: String,
    pub points: Vec<(usize, Spread)>,
}

/// A value that does not depend on x.
pub struct Level {
    pub label: String,
    pub value: f64,
}

/// A stretch of the x axis that deserves a remark.
pub struct Band {
    pub label: String,
    pub from: f64,
    pub to: f64,
}

pub struct Graph {
    pub title: String,
    pub subtitle: String,
    pub x_label: String,
    pub y_label: String,
    pub lines: Vec<Line>,
    pub level: Option<Level>,
    pub band: Option<Band>,
}

type Outcome<T> = Result<T, DrawingAreaErrorKind<std::io::Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Chart<'a, 'b> = ChartContext<
    'a,
    SVGBackend<'b>,
    Cartesian2d<plotters::coord::types::RangedCoordf64, plotters::coord::types::RangedCoordf64>,
>;

const SIZE: (u32, u32) = (960, 560);
const INK: RGBColor = RGBColor(38, 38, 38);
const FAINT: RGBColor = RGBColor(110, 110, 110);
const GRID: RGBColor = RGBColor(226, 226, 226);
const BAND: RGBColor = RGBColor(255, 243, 214);
/// Told apart by people who see colours differently, and by their markers in print.
const COLOURS: [RGBColor; 3] = [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 138, 100)];

/// The graph as SVG, or the reason it cannot be drawn.
pub fn svg(graph: &Graph) -> Result<String, String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        draw(graph, &area).map_err(|cause| cause.to_string())?;
        area.present().map_err(|cause| cause.to_string())?;
    }
    Ok(text)
}

fn draw(graph: &Graph, area: &Area<'_>) -> Outcome<()> {
    area.fill(&WHITE)?;
    area.draw(&Text::new(graph.title.clone(), (24, 18), font(24, INK)))?;
    area.draw(&Text::new(graph.subtitle.clone(), (24, 50), font(14, FAINT)))?;
    draw_legend(graph, area)?;
    let (_, below) = area.split_vertically(106);
    let top = highest(graph) * 1.08;
    let last = graph.lines.iter().flat_map(|line| &line.points).map(|(x, _)| doublings(*x)).fold(1.0, f64::max);
    let mut chart = ChartBuilder::on(&below)
        .margin(12)
        .margin_right(28)
        .x_label_area_size(52)
        .y_label_area_size(72)
        .build_cartesian_2d(-0.3..last + 0.3, 0.0..top)?;
    let corners = |band: &Band| [(band.from.log2(), 0.0), (band.to.log2(), top)];
    chart.draw_series(graph.band.iter().map(|band| Rectangle::new(corners(band), BAND.filled())))?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(FAINT)
        .x_labels(last as usize + 3)
        .x_label_formatter(&|x| power_of_two(*x))
        .y_label_formatter(&|y| tick(*y, top))
        .x_desc(graph.x_label.clone())
        .y_desc(graph.y_label.clone())
        .label_style(font(15, INK))
        .axis_desc_style(font(16, INK))
        .draw()?;
    for (number, line) in graph.lines.iter().enumerate() {
        draw_line(&mut chart, line, number)?;
    }
    if let Some(level) = graph.level.as_ref().filter(|level| level.value <= top) {
        let ends = [(-0.3, level.value), (last + 0.3, level.value)];
        chart.draw_series(DashedLineSeries::new(ends, 6, 5, FAINT.stroke_width(1)))?;
    }
    Ok(())
}

/// In a row above the picture, where it cannot cover a figure.
fn draw_legend(graph: &Graph, area: &Area<'_>) -> Outcome<()> {
    const Y: i32 = 88;
    let mut x = 24;
    let mut word = |label: &str| -> Outcome<i32> {
        let at = x;
        area.draw(&Text::new(label.to_owned(), (at + 34, Y - 6), font(14, INK)))?;
        // Letters of this size are about 7 wide; nothing here can measure them.
        x += 34 + 7 * label.chars().count() as i32 + 16;
        Ok(at)
    };
    for (number, line) in graph.lines.iter().enumerate() {
        let at = word(&line.label)?;
        let colour = COLOURS[number % COLOURS.len()];
        area.draw(&PathElement::new([(at, Y), (at + 26, Y)], colour.stroke_width(2)))?;
        area.draw(&marker(number, (at + 13, Y), colour))?;
    }
    if let Some(level) = &graph.level {
        let value = if level.value > lines_top(graph) * ROOM {
            format!(" ({})", table::figure(level.value))
        } else {
            String::new()
        };
        let at = word(&format!("{}{value}", level.label))?;
        for from in [0, 10, 20] {
            area.draw(&PathElement::new([(at + from, Y), (at + from + 6, Y)], FAINT.stroke_width(1)))?;
        }
    }
    if let Some(band) = &graph.band {
        let at = word(&band.label)?;
        area.draw(&Rectangle::new([(at, Y - 7), (at + 26, Y + 7)], BAND.filled()))?;
    }
    Ok(())
}

/// The medians as a line with markers, and from each marker a stroke from the smallest to the largest round.
fn draw_line<'a, 'b: 'a>(chart: &mut Chart<'a, 'b>, line: &Line, number: usize) -> Outcome<()> {
    let colour = COLOURS[number % COLOURS.len()];
    let medians = line.points.iter().map(|(x, spread)| (doublings(*x), spread.median));
    let strokes = line.points.iter().map(|(x, spread)| {
        let x = doublings(*x);
        PathElement::new([(x, spread.min), (x, spread.max)], colour.mix(0.45).stroke_width(5))
    });
    chart.draw_series(strokes)?;
    chart.draw_series(LineSeries::new(medians.clone(), colour.stroke_width(2)))?;
    chart.draw_series(medians.map(|at| EmptyElement::at(at) + marker(number, (0, 0), colour)))?;
    Ok(())
}

/// Round, four-cornered or three-cornered: lines can be told apart without their colours.
fn marker(number: usize, (x, y): (i32, i32), colour: RGBColor) -> Polygon<(i32, i32)> {
    let (corners, size) = [(20, 5.0), (4, 6.0), (3, 6.5)][number % COLOURS.len()];
    let corner = |at: i32| {
        let angle = std::f64::consts::TAU * f64::from(at) / f64::from(corners);
        (x + (size * angle.sin()).round() as i32, y - (size * angle.cos()).round() as i32)
    };
    Polygon::new((0..corners).map(corner).collect::<Vec<_>>(), colour.filled())
}

fn font(size: i32, colour: RGBColor) -> TextStyle<'static> {
    ("DejaVu Sans, Helvetica, Arial, sans-serif", size).into_font().color(&colour)
}

fn doublings(x: usize) -> f64 {
    (x as f64).log2()
}

/// The tick at a whole number of doublings; nothing between two of them.
fn power_of_two(doublings: f64) -> String {
    let whole = doublings.round();
    if whole >= 0.0 && (doublings - whole).abs() < 1e-6 { table::grouped(whole.exp2()) } else { String::new() }
}

fn tick(value: f64, top: f64) -> String {
    if top >= 20.0 { table::grouped(value) } else { format!("{value:.1}") }
}

/// A level farther above the lines than this is told in the legend instead: drawn, it would press the lines flat.
const ROOM: f64 = 2.5;

fn lines_top(graph: &Graph) -> f64 {
    let points = graph.lines.iter().flat_map(|line| &line.points);
    points.map(|(_, spread)| spread.max).fold(f64::MIN_POSITIVE, f64::max)
}

fn highest(graph: &Graph) -> f64 {
    let lines = lines_top(graph);
    let level = graph.level.as_ref().map(|level| level.value).filter(|value| *value <= lines * ROOM);
    level.unwrap_or(lines).max(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(medians: &[f64]) -> Graph {
        let spread = |median: f64| Spread { median, min: median * 0.9, max: median * 1.1 };
        let points = medians.iter().enumerate().map(|(at, &median)| (1 << at, spread(median))).collect();
        Graph {
            title: "A title".into(),
            subtitle: "and what it means".into(),
            x_label: "messages in a batch".into(),
            y_label: "ns/msg".into(),
            lines: vec![Line { label: "measured line".into(), points }],
            level: Some(Level { label: "the limit".into(), value: 0.5 }),
            band: None,
        }
    }

    #[test]
    fn the_picture_has_its_words_and_every_point() {
        let text = svg(&graph(&[4.0, 2.0, 1.0])).unwrap();
        for word in ["A title", "and what it means", "messages in a batch", "ns/msg", "measured line", "the limit"] {
            assert!(text.contains(word), "{word}");
        }
        // Three points, and one marker in the legend.
        assert_eq!(text.matches("<polygon").count(), 4);
    }

    #[test]
    fn a_level_far_above_is_told_instead_of_drawn() {
        let mut graph = graph(&[4.0, 2.0, 1.0]);
        graph.level = Some(Level { label: "the limit".into(), value: 400.0 });
        assert!(svg(&graph).unwrap().contains("the limit (400)"));
        assert!(highest(&graph) < 10.0);
    }

    #[test]
    fn a_line_without_points_is_drawn_as_nothing() {
        assert!(svg(&graph(&[])).is_ok());
    }

    #[test]
    fn ticks_stand_at_powers_of_two_only() {
        assert_eq!(power_of_two(10.0), "1,024");
        assert_eq!(power_of_two(0.0), "1");
        assert_eq!(power_of_two(2.5), "");
        assert_eq!(power_of_two(-1.0), "");
    }
}
