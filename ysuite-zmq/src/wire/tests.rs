//! Frames and back.
