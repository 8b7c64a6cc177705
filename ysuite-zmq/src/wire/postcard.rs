//! [`Postcard`]: messages of any type that serde knows.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{FromWire, Layout, Malformed, ToWire, Wire};

/// The version of the format; a frame of another one is malformed.
const VERSION: u8 = 1;

/// A message of a type that serde knows, as postcard on the wire. A feature, `postcard`.
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
        match postcard::take_from_bytes(bytes) {
            Ok((message, [])) => Ok(Self(message)),
            _ => Err(Malformed::Content),
        }
    }
}
