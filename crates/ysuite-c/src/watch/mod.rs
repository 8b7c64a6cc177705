//! Which thread is inside a handle, and whether it was freed: tracked in the checked build only.

#[cfg(feature = "checked")]
mod checked;
#[cfg(not(feature = "checked"))]
mod unchecked;

#[cfg(feature = "checked")]
pub(crate) use self::checked::Watch;
#[cfg(not(feature = "checked"))]
pub(crate) use self::unchecked::Watch;

/// Whether this is the checked build.
pub(crate) const IS_CHECKED: bool = cfg!(feature = "checked");
