//! The articles this project descends from, each reproduced in its own shape beside its published figures.

pub mod y_suite;
