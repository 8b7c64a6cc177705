use super::{AT_BYTES, AT_FLAGS, AT_MAGIC, AT_ROLE, AT_VERSION, Header, Kind, Role, Shape, hashed};
use crate::os::{Own, PAGE, Peer};
use crate::sync::Ordering;
use crate::{Error, Why};

fn shape() -> Shape {
    Shape { kind: Kind::Typed, size: 24, align: 8, name: hashed("Quote") }
}

fn page() -> (Own, Peer, Header) {
    let own = Own::new(2 * PAGE).unwrap();
    let header = Header {
        role: Role::Sender,
        shape: shape(),
        capacity: 9,
        bytes: 2 * PAGE,
        needs_fences: true,
        processor: Some(0),
    };
    header.write(&own);
    let peer = Peer::map(own.memfd(), 1 << 20).unwrap();
    (own, peer, header)
}

#[test]
fn a_header_is_read_as_it_was_written() {
    let (_own, peer, header) = page();
    assert_eq!(Header::read(&peer, Role::Sender, &shape()), Ok(header));
}

/// Claim: A header of another protocol, version, kind, type or size is refused, and the error says which it was.
#[test]
fn each_word_of_a_header_is_checked() {
    let (own, peer, _) = page();
    let changes = [
        (AT_MAGIC, 0, Why::Magic),
        // Groups had other sizes in version 1.
        (AT_VERSION, 0x0001_0000, Why::Version(0x0001_0000)),
        (AT_VERSION, 0x0003_0000, Why::Version(0x0003_0000)),
        (AT_VERSION, 0x0001_0002_0000, Why::Version(0x0002_0000)),
        (AT_ROLE, 1, Why::Kind),
        (AT_ROLE, 0x200, Why::Kind),
        (AT_ROLE, 0x100, Why::Role),
        (super::AT_SIZE, 16, Why::Type),
        (super::AT_ALIGN, 16, Why::Type),
        (super::AT_NAME, 1, Why::Type),
        (super::AT_NAME_REST, 1, Why::Type),
        (AT_FLAGS, 2, Why::Version(0x0002_0000)),
        (AT_BYTES, PAGE as u64, Why::Size),
    ];
    for (at, value, why) in changes {
        let before = own.word(at).swap(value, Ordering::Relaxed);
        assert_eq!(Header::read(&peer, Role::Sender, &shape()), Err(Error::Refused(why)), "{at}");
        own.word(at).store(before, Ordering::Relaxed);
    }
    assert_eq!(Why::Version(0x0001_0000).to_string(), "the peer speaks version 1.0");
    // A later minor version that asks for nothing is as good.
    own.word(AT_VERSION).store(0x0002_0007, Ordering::Relaxed);
    assert!(Header::read(&peer, Role::Sender, &shape()).is_ok());
}

#[test]
fn a_name_is_not_another() {
    assert_ne!(hashed(""), hashed("a"));
    assert_ne!(hashed("ab"), hashed("ba"));
}
