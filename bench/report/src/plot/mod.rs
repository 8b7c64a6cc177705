//! Figures as pictures: SVG with a title, a description in words, and values to hover over. Three are drawn: `bars`,
//! `lines` and `histogram`, the last also in rows (`ridges`). The other modules supply figures and texts to the picture
//! of lines. Pure; the caller writes the file.
//!
//! On a page the colours are CSS variables, so that one picture serves light and dark; `Picture::standalone` inserts
//! the colours. All pictures have the same width, at which their text has the size of the page's text.

mod axis;
mod bars;
mod canvas;
mod colour;
mod ends;
mod growth;
mod histogram;
mod lines;
mod percentiles;
mod ridges;
mod scatter;
mod sweep;

pub use self::bars::{Bar, Bars};
pub use self::colour::{Colour, Look, Looks, Shape};
pub use self::growth::{Growth, Rise};
pub use self::histogram::{Histogram, Shown};
pub use self::lines::Band;
pub use self::percentiles::Percentiles;
pub use self::ridges::Ridges;
pub use self::scatter::Scatter;
pub use self::sweep::{Point, Sweep, Swept};

/// A drawing with a description.
#[derive(Clone, Debug)]
pub struct Picture {
    pub title: String,
    /// The description of the picture, in a sentence with figures.
    pub alt: String,
    /// For a page that defines the variables of [`colour_variables`].
    pub svg: String,
}

impl Picture {
    /// A separate file: on white, with its title in it.
    pub fn standalone(&self) -> String {
        colour::fixed(&canvas::titled(&self.svg, &self.title))
    }
}

/// The colours as CSS declarations, for a light and for a dark page.
pub fn colour_variables(dark: bool) -> String {
    colour::variables(dark)
}

#[cfg(test)]
mod tests;
