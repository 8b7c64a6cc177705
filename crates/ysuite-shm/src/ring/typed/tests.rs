use ysuite::in_place::SlotClass;

use super::{LINE, Places};

/// Where a stream of messages between threads is fast it is fast between processes, of which each has copied the rule.
#[test]
fn groups_are_those_of_threads() {
    for align in [8, 16, 32, LINE] {
        for size in (align..=2_048).step_by(align) {
            let places = Places::of(size, align);
            let (slots, stride) = SlotClass::group(size, align);
            // Alone, a message begins with a line here, and there as soon as it is aligned.
            let stride = if slots == 1 { stride.next_multiple_of(LINE) } else { stride };
            assert_eq!((places.slots, places.stride), (slots, stride), "{size} bytes, aligned to {align}");
        }
    }
}

#[test]
fn a_group_has_room_for_its_slots() {
    for align in [1, 2, 4, 8, 16, 32, LINE] {
        for size in (0..=2_048).step_by(align) {
            let Places { step, first, slots, stride } = Places::of(size, align);
            assert!(step >= size && step % align == 0 && first >= 8 && first % align == 0);
            assert!(slots >= 1 && first + slots * step <= stride && stride % LINE == 0, "{size} {align}");
        }
    }
}
