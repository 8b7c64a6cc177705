//! What libFuzzer has made up, read as choices.

pub struct Input<'a> {
    data: &'a [u8],
}

impl<'a> Input<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self { data }
    }

    pub fn is_over(&self) -> bool {
        self.data.is_empty()
    }

    /// The next byte, and zeros behind the last one.
    pub fn byte(&mut self) -> u8 {
        self.data.split_off_first().copied().unwrap_or(0)
    }

    pub fn flip(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// A number below 256.
    pub fn below(&mut self, most: usize) -> usize {
        usize::from(self.byte()) % most
    }

    pub fn word(&mut self) -> u64 {
        u64::from_le_bytes(core::array::from_fn(|_| self.byte()))
    }

    pub fn bytes(&mut self, most: usize) -> &'a [u8] {
        let length = self.below(most + 1).min(self.data.len());
        self.data.split_off(..length).unwrap_or_default()
    }

    /// A word that is not what an honest peer has there, or is it by chance: near one of these, or anything.
    pub fn lie(&mut self, near: &[u64]) -> u64 {
        let base = near.get(self.below(near.len().max(1))).copied().unwrap_or(0);
        match self.below(6) {
            0 => base.wrapping_add(i64::from(self.byte() as i8) as u64),
            1 => base ^ 1 << self.below(64),
            2 => u64::from(self.byte()),
            3 => base.wrapping_add(u64::from(self.byte()) << self.below(57)),
            4 => [0, 1, u64::MAX, u64::MAX / 2, 1 << 63, 1 << 32, 0xffff_ffff, u64::MAX - 7][self.below(8)],
            _ => self.word(),
        }
    }
}
