use super::*;

#[test]
fn figures_are_read_in_the_order_in_which_they_are_written() {
    let two = |first: f64| Bytes { allocated: first, resident: first + 0.25 };
    let (idle, after, left) = (two(4.0), two(5.0), two(-6.0));
    let one = Weight { make: 1.5, first: 2.0, drop: 3.0, idle, after, left, stack: Some(8.0) };
    let figures = of_weight(&one);
    assert_eq!(weight(&figures), Some(one));
    assert_eq!(weight(&figures[..9]), Some(Weight { stack: None, ..one }));
    assert_eq!(weight(&figures[..8]), None);
    assert_eq!(bytes(&of_bytes(two(7.0)), 0), Some(two(7.0)));
    assert_eq!(bytes(&[1.0], 0), None);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let place = Place { first: crate::place::allowed()[0], second: crate::place::allowed()[0] };
    assert_eq!(weighed("pigeon", Measured::Many(1), place).unwrap_err().exit_status(), 2);
    assert_eq!(weighed("oneshot", Measured::Burst(1), place).unwrap_err().exit_status(), 2);
    assert_eq!(weighed("spsc", Measured::Burst(1), place).unwrap().split(' ').count(), 2);
    assert_eq!(
        weighed("oneshot", Measured::Many(1), place).unwrap().split(' ').count(),
        9 + usize::from(cfg!(feature = "sizes"))
    );
}

#[test]
fn every_kind_delivers_and_holds_what_it_must() {
    for kind in all().iter().chain([&PLAIN]) {
        let failed = |fault: Fault| -> ! { panic!("{} {fault}", kind.name) };
        let weight = (kind.many)(100).unwrap_or_else(|fault| failed(fault));
        let kept = kind.kept.map(|kept| kept(1_000).unwrap_or_else(|fault| failed(fault)));
        let Weight { make, first, drop, idle, after, left, stack } = weight;
        assert!(make > 0.0 && first > 0.0 && drop > 0.0, "{}: {weight:?}", kind.name);
        // Two pointers, or a queue of three words; never less when it has had a message.
        assert!(idle.allocated >= 16.0 && after.allocated >= 8.0, "{}: {weight:?}", kind.name);
        // A thread may keep a part of what it has sent through, until it sends again.
        assert!(left.allocated.abs() < after.allocated, "{}: {weight:?}", kind.name);
        assert_eq!(stack.is_some(), cfg!(feature = "sizes"));
        assert!(stack.is_none_or(|stack| stack >= channel::LARGE as f64), "{}: {weight:?}", kind.name);
        assert!(kept.is_none_or(|kept| kept.allocated >= 16.0), "{}: {weight:?}", kind.name);
    }
    assert!(PLAIN.kept.unwrap()(1_000).unwrap().allocated >= 8_000.0, "a VecDeque keeps its room");
}

#[test]
fn names_are_unique_and_unknown_ones_are_refused() {
    let mut names: Vec<&str> = all().iter().map(|kind| kind.name).collect();
    assert!(names.len() >= 20);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all().len());
    let chosen = |names: &[&str]| chosen(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    assert_eq!(chosen(&[]).unwrap().len(), names.len());
    assert_eq!(chosen(&["watch", "spsc"]).unwrap().iter().map(|kind| kind.name).collect::<Vec<_>>(), ["spsc", "watch"]);
    assert!(
        chosen(&["spsc", "pigeon"]).unwrap_err().to_string().starts_with("There is no kind of channel called 'pigeon'")
    );
    for (channels, fits) in [(0, false), (1, true), (1_000_000, true), (1_000_001, false)] {
        assert_eq!(check(channels).is_ok(), fits, "{channels}");
    }
}
