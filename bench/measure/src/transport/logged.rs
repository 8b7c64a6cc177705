//! The lengths of a logger's messages: most of them a line, some a page, and a few a book.

/// One in this number of messages is a book.
pub const BURST: usize = 16;

const LINE: usize = 8;
const PAGE: usize = 512;
const BOOK: usize = 8_192;

/// The number of words of a message, by its number.
#[inline]
pub(super) fn words(number: usize) -> usize {
    match number % BURST {
        0 => BOOK,
        4 | 8 => PAGE,
        _ => LINE,
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
}
