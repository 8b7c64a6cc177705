//! What an end does before it sleeps.

use core::ffi::c_int;

use ysuite::channel::Spin;

/// What an end does before it sleeps.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ys_spin {
    /// It sleeps at once.
    YS_SPIN_NONE = 0,
    /// It looks for a while, as long as that has paid.
    YS_SPIN_ADAPTIVE = 1,
    /// It never sleeps: for a thread that has a CPU for itself.
    YS_SPIN_FOREVER = 2,
}

pub(crate) fn spin_from(spin: c_int) -> Option<Spin> {
    match spin {
        spin if spin == ys_spin::YS_SPIN_NONE as c_int => Some(Spin::None),
        spin if spin == ys_spin::YS_SPIN_ADAPTIVE as c_int => Some(Spin::Adaptive),
        spin if spin == ys_spin::YS_SPIN_FOREVER as c_int => Some(Spin::Forever),
        _ => None,
    }
}
