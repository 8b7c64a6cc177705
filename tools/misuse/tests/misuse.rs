//! Misuse that must not compile. Each case has a twin that must compile: without the twin, a case might fail for a
//! reason other than the intended one.
//!
//! The compiler's messages are compared where they are known: with the version they were written for, and for types
//! whose contents it does not print. This is a crate by itself, since each case is compiled with all dependencies of
//! its crate. The twins are part of it, so that nothing has to be linked for each.

mod support;

use support::{names, refuses, twins};

twins! {
    "compile_pass":
    a_catch_all_after_another_handler
    a_message_that_outlives_its_channel
    a_message_that_outlives_its_select
    a_message_whose_drop_looks_at_what_is_there
    adding_a_timer
    flushing_through_a_unique_reference
    move_of_a_receiver
    move_of_a_sender
    moves_of_ypipe_handles
    permits_of_what_is_reserved
    reader_of_what_is_send
    receiving_after_iterating
    receiving_after_peeking
    selecting_from_what_is_lent
    senders_of_messages_that_live_as_long
    sending_from_one_thread_after_another
    sending_to_a_mailbox_what_is_owned
    sending_to_a_mailbox_what_is_send
    writer_of_what_is_send
}

#[test]
fn every_case_has_a_twin_that_compiles() {
    assert_eq!(names("tests/compile_pass"), TWINS);
    assert_eq!(names("tests/compile_fail").len(), TWINS.len());
}

/// Claim: Handles cross threads exactly if their messages may. All other uses do not compile.
/// Also: suite auto_traits::every_type_has_the_traits_it_had.
#[test]
fn misuse_does_not_compile() {
    refuses("tests/compile_fail/*.rs");
}
