//! The exceptions, which `package/ysuite/_errors.py` defines.

use pyo3::prelude::*;
use ysuite_shm::{Error, Why};

mod python {
    use pyo3::import_exception;

    import_exception!(ysuite._errors, Closed);
    import_exception!(ysuite._errors, Died);
    import_exception!(ysuite._errors, Broken);
    import_exception!(ysuite._errors, Refused);
    import_exception!(ysuite._errors, Full);
    import_exception!(ysuite._errors, Empty);
    import_exception!(ysuite._errors, Timeout);
    import_exception!(ysuite._errors, Lagged);
    import_exception!(ysuite._errors, Unanswered);
}

pub(crate) use self::python::{Closed, Empty, Full, Lagged, Timeout, Unanswered};

/// A message of an iteration, which ends with the channel.
pub(crate) fn until_closed<T>(py: Python<'_>, received: PyResult<T>) -> PyResult<Option<T>> {
    match received {
        Ok(message) => Ok(Some(message)),
        Err(error) if error.is_instance_of::<Closed>(py) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The exception of an end that can do no more.
pub(crate) fn ended(error: Error) -> PyErr {
    match error {
        Error::Closed => Closed::new_err(error.to_string()),
        Error::Died => python::Died::new_err(error.to_string()),
        Error::Broken => python::Broken::new_err(error.to_string()),
        // As those of the system: with `errno`.
        Error::Refused(why @ Why::System(number)) => python::Refused::new_err((number, why.to_string())),
        Error::Refused(why) => python::Refused::new_err(why.to_string()),
    }
}
