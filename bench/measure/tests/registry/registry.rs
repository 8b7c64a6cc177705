//! Every name is there once, and a choice is by names.

use ybench_measure::registry::{all, chosen};

#[test]
fn every_name_is_there_once() {
    for entry in all() {
        let same = all().iter().filter(|other| other.traits.name == entry.traits.name).count();
        assert_eq!(same, 1, "{}", entry.traits.name);
    }
}

#[test]
fn an_unknown_name_is_refused_in_one_sentence() {
    let error = chosen(&["carrier-pigeon".into()]).err().unwrap();
    assert_eq!(error.exit_status(), 2);
    assert_eq!(error.to_string(), "There is no transport called 'carrier-pigeon'; `ybench list` names them all.");
}

#[test]
fn a_choice_keeps_the_order_of_the_registry() {
    let chosen = chosen(&["rtrb-64k".into(), "spsc".into()]).unwrap();
    let names: Vec<_> = chosen.iter().map(|entry| entry.traits.name).collect();
    assert_eq!(names, ["spsc", "rtrb-64k"]);
}
