//! Misuse of bridges that must not compile, with the feature `zmq`; otherwise as `misuse.rs`.

mod support;

use support::{names, refuses, twins};

twins! {
    "bridges_pass":
    pulling_a_number
    pushing_a_record
    pushing_by_a_receiver
    pushing_by_a_receiver_of_its_own
    pushing_what_is_owned
    writing_with_a_layout
}

#[test]
fn every_case_has_a_twin_that_compiles() {
    assert_eq!(names("tests/bridges_pass"), TWINS);
    assert_eq!(names("tests/bridges_fail").len(), TWINS.len());
}

/// Claim: The compiler says of what cannot go over a bridge what can.
#[test]
fn misuse_does_not_compile() {
    refuses("tests/bridges_fail/*.rs");
}
