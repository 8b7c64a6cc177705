//! Messages of one size: numbers, arrays of them, and structures of them without padding.

use super::{FromWire, Layout, Malformed, ToWire, Wire};

macro_rules! impl_number {
    ($($number:ty)*) => {$(
        impl Wire for $number {
            const LAYOUT: Layout = Layout::Records(size_of::<Self>());
        }

        impl ToWire for $number {
            fn encode(&self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        }

        impl FromWire for $number {
            fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
                let whole = bytes.try_into();
                let whole = whole.map_err(|_| Malformed::Length { bytes: bytes.len(), record: size_of::<Self>() });
                whole.map(Self::from_le_bytes)
            }
        }

        impl<const N: usize> Wire for [$number; N] {
            const LAYOUT: Layout = {
                assert!(N > 0, "messages without a byte cannot be counted");
                Layout::Records(size_of::<Self>())
            };
        }

        impl<const N: usize> ToWire for [$number; N] {
            fn encode(&self, bytes: &mut Vec<u8>) {
                self.iter().for_each(|number| number.encode(bytes));
            }
        }

        impl<const N: usize> FromWire for [$number; N] {
            fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
                if bytes.len() != size_of::<Self>() {
                    return Err(Malformed::Length { bytes: bytes.len(), record: size_of::<Self>() });
                }
                let mut numbers = [<$number>::default(); N];
                for (number, bytes) in numbers.iter_mut().zip(bytes.chunks_exact(size_of::<$number>())) {
                    *number = <$number>::decode(bytes)?;
                }
                Ok(numbers)
            }
        }
    )*};
}

impl_number!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 f32 f64);

/// Declares that messages of this type are sent as they are in memory: `record!(Job)`. It must be [`bytemuck::Pod`],
/// which has no padding and no pointers; its numbers are then little-endian, and what reads them elsewhere is
/// `struct.iter_unpack` with `<`, or `numpy.frombuffer`. Not available on big-endian machines.
///
/// ```
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Job {
///     number: u64,
///     price: f64,
/// }
/// # // SAFETY: two words without padding, of which every pattern of bits is one.
/// # unsafe impl bytemuck::Zeroable for Job {}
/// # unsafe impl bytemuck::Pod for Job {}
/// ysuite_zmq::record!(Job); // with `#[derive(bytemuck::Pod, bytemuck::Zeroable)]`
/// ```
#[macro_export]
macro_rules! record {
    ($type:ty) => {
        #[cfg(target_endian = "big")]
        compile_error!("records are little-endian, and have the same bytes in memory and on the wire");

        impl $crate::Wire for $type {
            const LAYOUT: $crate::Layout = {
                assert!(::core::mem::size_of::<Self>() > 0, "messages without a byte cannot be counted");
                $crate::Layout::Records(::core::mem::size_of::<Self>())
            };
        }

        impl $crate::ToWire for $type {
            fn encode(&self, bytes: &mut ::std::vec::Vec<u8>) {
                bytes.extend_from_slice($crate::bytemuck::bytes_of(self));
            }
        }

        impl $crate::FromWire for $type {
            fn decode(bytes: &[u8]) -> ::core::result::Result<Self, $crate::Malformed> {
                $crate::bytemuck::try_pod_read_unaligned(bytes).map_err(|_| $crate::Malformed::Length {
                    bytes: bytes.len(),
                    record: ::core::mem::size_of::<Self>(),
                })
            }
        }
    };
}
