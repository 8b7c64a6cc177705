//! Messages of every shape a queue must lay out: each is made from a number, and can check whether it is still that
//! one.

/// A message that can be made and recognised.
pub(crate) trait Sample: Send + 'static {
    fn make(number: usize) -> Self;
    /// Fails unless this is the message made from `number`.
    fn check(&self, number: usize);
}

impl Sample for u64 {
    fn make(number: usize) -> Self {
        number as u64
    }

    fn check(&self, number: usize) {
        assert_eq!(*self, number as u64);
    }
}

impl Sample for Box<usize> {
    fn make(number: usize) -> Self {
        Box::new(number)
    }

    fn check(&self, number: usize) {
        assert_eq!(**self, number);
    }
}

/// A message of `N` bytes without alignment.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<const N: usize>([u8; N]);

/// Each byte of a message is one more than that before it: pieces of this, by the slice, as shapes of 200,000 bytes are made in
/// thousands by code that is not optimised.
static COUNTED: [u8; 512] = {
    let mut bytes = [0; 512];
    let mut at = 0;
    while at < bytes.len() {
        bytes[at] = at as u8;
        at += 1;
    }
    bytes
};

/// The first `length` bytes of message `number`, and of every 256 of them.
fn piece(number: usize, length: usize) -> &'static [u8] {
    &COUNTED[usize::from((number ^ number >> 8).wrapping_mul(31) as u8)..][..length]
}

impl<const N: usize> Sample for Bytes<N> {
    fn make(number: usize) -> Self {
        let mut bytes = [0; N];
        bytes.chunks_mut(256).for_each(|part| part.copy_from_slice(piece(number, part.len())));
        Self(bytes)
    }

    fn check(&self, number: usize) {
        for (index, part) in self.0.chunks(256).enumerate() {
            assert_eq!(part, piece(number, part.len()), "bytes from {} on of message {number}", index * 256);
        }
    }
}

/// A message of `N` words.
pub(crate) struct Words<const N: usize>([u64; N]);

impl<const N: usize> Sample for Words<N> {
    fn make(number: usize) -> Self {
        Self([number as u64; N])
    }

    fn check(&self, number: usize) {
        assert_eq!(self.0, [number as u64; N]);
    }
}

macro_rules! aligned {
    ($($name:ident $align:literal),*) => {
        $(
            #[repr(align($align))]
            pub(crate) struct $name(u64);

            impl Sample for $name {
                fn make(number: usize) -> Self {
                    Self(number as u64)
                }

                fn check(&self, number: usize) {
                    assert_eq!(self.0, number as u64);
                    assert_eq!(std::ptr::from_ref(self).addr() % $align, 0, "misaligned");
                }
            }
        )*
    };
}

aligned!(Aligned16 16, Aligned64 64, Aligned128 128, Aligned4096 4096);

/// A message without a size that asks for alignment all the same.
#[repr(align(64))]
pub(crate) struct AlignedNothing;

impl Sample for () {
    fn make(_number: usize) -> Self {}
    fn check(&self, _number: usize) {}
}

impl Sample for AlignedNothing {
    fn make(_number: usize) -> Self {
        Self
    }

    fn check(&self, _number: usize) {
        assert_eq!(std::ptr::from_ref(self).addr() % 64, 0, "misaligned");
    }
}

/// Calls a generic function once for every shape: sizes on each side of every border of the layout, alignments, nothing.
#[macro_export]
macro_rules! for_every_shape {
    ($call:ident $(::<$first:ty>)? ($($argument:expr),*)) => {{
        use $crate::support::samples::*;
        $crate::for_every_shape!(@each [$call $($first)?] ($($argument),*)
            (), AlignedNothing, u64, Box<usize>,
            Bytes<1>, Bytes<3>, Bytes<7>, Bytes<12>, Bytes<18>, Bytes<19>, Bytes<24>, Bytes<28>, Bytes<29>, Bytes<32>,
            Bytes<40>, Bytes<41>, Bytes<56>, Bytes<57>, Bytes<60>, Bytes<64>, Bytes<100>, Bytes<120>, Bytes<1000>,
            Words<3>, Words<5>, Words<7>, Words<8>, Words<125>,
            Aligned16, Aligned64, Aligned128, Aligned4096, Bytes<65_536>, Bytes<200_000>);
    }};
    (@each $head:tt $arguments:tt $($shape:ty),*) => {
        $($crate::for_every_shape!(@one $head $shape, $arguments);)*
    };
    (@one [$call:ident] $shape:ty, ($($argument:expr),*)) => { $call::<$shape>($($argument),*) };
    (@one [$call:ident $first:ty] $shape:ty, ($($argument:expr),*)) => { $call::<$first, $shape>($($argument),*) };
}
