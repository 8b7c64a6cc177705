//! The articles this project descends from, each in a room of its own: reproduced in its own shape, beside its
//! published figures.

pub mod y_suite;
