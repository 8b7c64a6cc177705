//! [`Postcard`]: messages of any type that serde knows.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::guarded::{Guarded, Meter};
use super::limits::{Allowance, Limits};
use super::{FromWire, Layout, Malformed, ToWire, Wire};

/// The version of the format; a frame of another one is malformed.
const VERSION: u8 = 1;

/// A message of a type that serde knows, as postcard on the wire. Needs the feature `postcard`.
///
/// Values may be nested 128 deep, and the messages of a frame may take 64 MiB of memory, or eight times its bytes where
/// that is more: a frame that asks for more is [`Malformed`], and [`deepest_message`](crate::Pull::deepest_message) of
/// a bridge that receives changes that. Lists, maps, options, structures, tuples and enumerations each count as a
/// level; a pointer, such as `Box`, does not. An element that takes no memory counts as 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Postcard<T>(pub T);

impl<T: Send + 'static> Wire for Postcard<T> {
    const LAYOUT: Layout = Layout::Lengths { version: VERSION };
}

impl<T: Serialize + Send + 'static> ToWire for Postcard<T> {
    /// # Panics
    /// If `T` says that it cannot be serialised.
    fn encode(&self, bytes: &mut Vec<u8>) {
        if let Err(cause) = postcard::to_io(&self.0, bytes) {
            panic!("a message cannot be written as postcard: {cause}");
        }
    }
}

impl<T: DeserializeOwned + Send + 'static> FromWire for Postcard<T> {
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        Self::decode_within(bytes, &mut Limits::default().of_frame(bytes.len()))
    }

    fn decode_within(bytes: &[u8], allowance: &mut Allowance) -> Result<Self, Malformed> {
        let mut whole = postcard::Deserializer::from_bytes(bytes);
        let meter = Meter::new(allowance);
        let message = T::deserialize(Guarded::new(&mut whole, &meter, size_of::<T>()));
        match (message, whole.finalize()) {
            (Ok(message), Ok([])) => Ok(Self(message)),
            _ => Err(meter.refused().unwrap_or(Malformed::Content)),
        }
    }
}
