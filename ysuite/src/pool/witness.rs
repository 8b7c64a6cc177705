//! What the model checker looks at: one cell for each block, touched by whoever takes the block and whoever gives it back.
//! Two owners at a time, or one that does not see what the last has done, are a race on the cell. Otherwise nothing.

#[cfg(ysuite_loom)]
pub(super) struct Witness(Box<[crate::sync::UnsafeCell<()>]>);

#[cfg(ysuite_loom)]
impl Witness {
    pub(super) fn new(blocks: usize) -> Self {
        Self((0..blocks).map(|_| crate::sync::UnsafeCell::new(())).collect())
    }

    pub(super) fn touch(&self, block: u32) {
        self.0[block as usize].with_mut(|_| ());
    }
}

#[cfg(not(ysuite_loom))]
pub(super) struct Witness;

#[cfg(not(ysuite_loom))]
impl Witness {
    pub(super) fn new(_blocks: usize) -> Self {
        Self
    }

    #[inline(always)]
    pub(super) fn touch(&self, _block: u32) {}
}
