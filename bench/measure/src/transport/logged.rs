//! The messages of a logger: parcels of several sizes, most of them a line, some a page, and a few a book.

use super::Message;
use super::message::Parcel;

/// One in this number of messages is a book.
pub const BURST: usize = 16;

const LINE: usize = 8;
const PAGE: usize = 512;
const BOOK: usize = 8_192;

/// As long as its number says.
pub struct Logged(Parcel);

fn words(number: usize) -> usize {
    match number % BURST {
        0 => BOOK,
        4 | 8 => PAGE,
        _ => LINE,
    }
}

impl Message for Logged {
    type Wire = usize;

    #[inline]
    fn numbered(number: usize) -> Self {
        Self(Parcel::of(words(number), number))
    }

    #[inline]
    fn number(&self) -> usize {
        self.0.number()
    }

    #[inline]
    fn into_wire(self) -> usize {
        self.0.into_wire()
    }

    #[inline]
    unsafe fn from_wire(wire: usize) -> Self {
        // SAFETY: the caller guarantees that it is the wire of such a message, which is that of its parcel.
        Self(unsafe { Parcel::from_wire(wire) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_has_a_book_two_pages_and_lines() {
        let count = |size| (0..BURST).filter(|number| words(*number) == size).count();
        assert_eq!([BOOK, PAGE, LINE].map(count), [1, 2, BURST - 3]);
        assert_eq!(words(usize::MAX), LINE, "the end of a stream");
    }

    #[test]
    fn every_size_keeps_its_number_on_the_wire() {
        for number in 0..BURST {
            let wire = Logged::numbered(number).into_wire();
            // SAFETY: just made, and used once.
            assert_eq!(unsafe { Logged::from_wire(wire) }.number(), number);
        }
    }
}
