//! What a handle does before it sleeps.

use core::ffi::c_int;

use ysuite::Spin;

use crate::code::{Answer, YS_EINVAL, YS_ENOTSUP, YS_OK};

/// What a handle does before it sleeps.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ys_spin {
    /// It sleeps at once.
    YS_SPIN_NONE = 0,
    /// It polls for a while, as long as that has paid.
    YS_SPIN_ADAPTIVE = 1,
    /// It never sleeps: for a thread that has a CPU for itself.
    YS_SPIN_FOREVER = 2,
}

fn spin_from(spin: c_int) -> Option<Spin> {
    match spin {
        spin if spin == ys_spin::YS_SPIN_NONE as c_int => Some(Spin::None),
        spin if spin == ys_spin::YS_SPIN_ADAPTIVE as c_int => Some(Spin::Adaptive),
        spin if spin == ys_spin::YS_SPIN_FOREVER as c_int => Some(Spin::Forever),
        _ => None,
    }
}

/// Sets the spin of a handle by `set`, which returns whether the handle has one.
pub(crate) fn set_spin(spin: c_int, set: impl FnOnce(Spin) -> bool) -> c_int {
    let code = match spin_from(spin) {
        Some(spin) if set(spin) => YS_OK,
        Some(_) => YS_ENOTSUP,
        None => YS_EINVAL,
    };
    c_int::from_code(code)
}
