//! Messages that are bytes: each is a frame.

use ysuite::pool;

use super::{FromWire, Layout, Malformed, ToWire, Wire};
use crate::error::Failure;
use crate::frame::Frame;

macro_rules! impl_to_wire {
    ($bytes:ty, |$this:ident| $owned:expr) => {
        impl Wire for $bytes {
            const LAYOUT: Layout = Layout::Whole;
        }

        impl ToWire for $bytes {
            fn encode(&self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(self.as_ref());
            }

            fn into_frame(self) -> Result<Frame, Failure> {
                let $this = self;
                $owned
            }
        }
    };
}

impl_to_wire!(Vec<u8>, |this| Frame::of(this));
impl_to_wire!(Box<[u8]>, |this| Frame::of(this));
impl_to_wire!(String, |this| Frame::of(this.into_bytes()));
// The block goes back to its pool when it is on the wire.
impl_to_wire!(pool::Message, |this| Frame::of(this));
impl_to_wire!(Frame, |this| Ok(this));

impl FromWire for Vec<u8> {
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        Ok(bytes.into())
    }
}

impl FromWire for Box<[u8]> {
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        Ok(bytes.into())
    }
}

impl FromWire for String {
    /// Malformed where the bytes are not UTF-8.
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        core::str::from_utf8(bytes).map(str::to_owned).map_err(|_| Malformed::Content)
    }
}

/// Without a copy.
impl FromWire for Frame {
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        Self::copied(bytes).map_err(|_| Malformed::Content)
    }

    fn from_frame(frame: Frame) -> Result<Self, Malformed> {
        Ok(frame)
    }
}
