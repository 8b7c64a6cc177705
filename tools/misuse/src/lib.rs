//! Empty: the crate consists of its tests.
