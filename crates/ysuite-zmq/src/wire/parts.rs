//! Messages that are lists of parts: each list is one message of ØMQ, which arrives whole or not at all.
//!
//! In a duplex, whose frames have a header, the parts of a list are in one frame, each after its length.

use super::limits::Allowance;
use super::{FromWire, Layout, Limits, Malformed, PREFIX, ToWire, Wire};
use crate::error::Failure;
use crate::frame::Frame;

/// The parts of a message before its last one, as they come.
pub(crate) struct Parts {
    before: Vec<Frame>,
    allowance: Allowance,
    refused: Option<Malformed>,
}

impl Parts {
    pub(crate) fn within(limits: Limits) -> Self {
        Self { before: Vec::new(), allowance: limits.of_frame(0), refused: None }
    }

    /// Takes what is in this frame, as long as all of them may come to so much.
    pub(crate) fn push(&mut self, frame: &mut Frame) {
        if self.refused.is_none() {
            self.refused = self.allowance.take(size_of::<Frame>() + frame.len()).err();
            match self.refused {
                None => self.before.push(core::mem::take(frame)),
                Some(_) => self.before = Vec::new(),
            }
        }
    }

    /// All parts, with the last one.
    pub(crate) fn whole(self, last: &mut Frame) -> Result<Vec<Frame>, Malformed> {
        let Self { mut before, refused, .. } = self;
        refused.map_or(Ok(()), Err)?;
        before.push(core::mem::take(last));
        Ok(before)
    }
}

fn append(part: &[u8], bytes: &mut Vec<u8>) {
    // A part that is longer than its length can say ends the list early: it is refused as a whole.
    bytes.extend(u32::try_from(part.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(part);
}

/// Shows each part of a list that is in one frame.
fn each(mut bytes: &[u8], allowance: &mut Allowance, mut show: impl FnMut(&[u8])) -> Result<(), Malformed> {
    if bytes.is_empty() {
        return Err(Malformed::Content);
    }
    while !bytes.is_empty() {
        let (length, behind) = bytes.split_first_chunk::<PREFIX>().ok_or(Malformed::Content)?;
        let (part, behind) = behind.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or(Malformed::Content)?;
        allowance.take(size_of::<Frame>() + part.len())?;
        show(part);
        bytes = behind;
    }
    Ok(())
}

macro_rules! impl_parts {
    ($part:ty, |$one:ident| $into:expr, |$frame:ident| $of:expr) => {
        impl Wire for Vec<$part> {
            const LAYOUT: Layout = Layout::Parts;
        }

        impl ToWire for Vec<$part> {
            /// As a duplex sends it: each part after its length.
            fn encode(&self, bytes: &mut Vec<u8>) {
                self.iter().for_each(|part| append(part, bytes));
                if self.is_empty() {
                    append(&[], bytes);
                }
            }

            fn into_parts(self) -> Result<Vec<Frame>, Failure> {
                if self.is_empty() {
                    return Ok(vec![Frame::empty()]);
                }
                self.into_iter().map(|$one| $into).collect()
            }
        }

        impl FromWire for Vec<$part> {
            fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
                Self::decode_within(bytes, &mut Limits::default().of_frame(bytes.len()))
            }

            fn decode_within(bytes: &[u8], allowance: &mut Allowance) -> Result<Self, Malformed> {
                let mut parts = Vec::new();
                each(bytes, allowance, |part| parts.push(part.to_vec()))?;
                parts.into_iter().map(|part| Frame::of(part).map_err(|_| Malformed::Memory)).map(|$frame| $of).collect()
            }

            fn from_parts(parts: Vec<Frame>) -> Result<Self, Malformed> {
                parts.into_iter().map(Ok).map(|$frame| $of).collect()
            }
        }
    };
}

impl_parts!(Frame, |part| Ok(part), |frame| frame);
impl_parts!(Vec<u8>, |part| Frame::of(part), |frame| frame.map(|frame: Frame| frame.to_vec()));
