//! Keys of CURVE: pairs that are made here, and the public ones of others.

use core::ffi::c_char;
use core::fmt;
use core::str::FromStr;
use std::ffi::CString;

use crate::error::{Error, Failure};
use crate::ffi;

/// Bytes of a key, and the letters that encode them in Z85.
const BYTES: usize = 32;
const LETTERS: usize = 40;

/// The public identity of a peer. Parsed from and printed as 40 characters of Z85, as in every library of ØMQ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PublicKey([u8; BYTES]);

/// Both halves of a key. The owner of the secret half is the peer that the public half names.
#[derive(Clone)]
pub struct KeyPair {
    public: PublicKey,
    secret: [u8; BYTES],
}

impl PublicKey {
    pub(crate) fn bytes(&self) -> &[u8; BYTES] {
        &self.0
    }

    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl KeyPair {
    // MUTANT: Needs a libzmq without CURVE.
    /// Generates a key pair from the system's random numbers.
    ///
    /// # Errors
    /// [`Error::NoCurve`] where libzmq was built without it.
    pub fn generate() -> Result<Self, Error> {
        let (mut public, mut secret) = ([0; LETTERS + 1], [0; LETTERS + 1]);
        // SAFETY: there is room for the letters and the zero after them.
        let made = unsafe {
            ffi::zmq_curve_keypair(public.as_mut_ptr().cast::<c_char>(), secret.as_mut_ptr().cast::<c_char>())
        };
        if made != 0 {
            let cause = Failure::last("zmq_curve_keypair");
            return Err(if cause.is(rustix::io::Errno::NOTSUP) { Error::NoCurve } else { cause.into() });
        }
        Ok(Self { public: decoded(&public[..LETTERS])?.into(), secret: decoded(&secret[..LETTERS])? })
    }

    // MUTANT: Needs a libzmq without CURVE.
    /// Makes the pair from the 40 characters of its secret half; the public half follows from it.
    ///
    /// # Errors
    /// [`Error::Key`] where they are no key, [`Error::NoCurve`] as for [`generate`](Self::generate).
    pub fn from_secret(secret: &str) -> Result<Self, Error> {
        let bytes = decoded(secret.as_bytes())?;
        let text = CString::new(secret).map_err(|_| Error::Key)?;
        let mut public = [0; LETTERS + 1];
        // SAFETY: the secret ends with a zero; there is room for the letters and the zero after them.
        if unsafe { ffi::zmq_curve_public(public.as_mut_ptr().cast::<c_char>(), text.as_ptr()) } != 0 {
            let cause = Failure::last("zmq_curve_public");
            return Err(if cause.is(rustix::io::Errno::NOTSUP) { Error::NoCurve } else { Error::Key });
        }
        Ok(Self { public: decoded(&public[..LETTERS])?.into(), secret: bytes })
    }

    /// Returns its public half.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        self.public
    }

    /// Returns its secret half, for a file that only its owner can read.
    #[must_use]
    pub fn secret(&self) -> String {
        encoded(&self.secret)
    }

    pub(crate) fn secret_bytes(&self) -> &[u8; BYTES] {
        &self.secret
    }
}

impl From<[u8; BYTES]> for PublicKey {
    fn from(bytes: [u8; BYTES]) -> Self {
        Self(bytes)
    }
}

impl FromStr for PublicKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        decoded(text.as_bytes()).map(Self)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&encoded(&self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "PublicKey({self})")
    }
}

/// Without its secret half.
impl fmt::Debug for KeyPair {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("KeyPair").field("public", &self.public).finish_non_exhaustive()
    }
}

fn decoded(letters: &[u8]) -> Result<[u8; BYTES], Error> {
    let text = CString::new(letters).map_err(|_| Error::Key)?;
    if letters.len() != LETTERS {
        return Err(Error::Key);
    }
    let mut bytes = [0; BYTES];
    // SAFETY: 40 letters and a zero are 32 bytes.
    if unsafe { ffi::zmq_z85_decode(bytes.as_mut_ptr(), text.as_ptr()) }.is_null() {
        Err(Error::Key)
    } else {
        Ok(bytes)
    }
}

fn encoded(bytes: &[u8; BYTES]) -> String {
    let mut letters = [0u8; LETTERS + 1];
    // SAFETY: 32 bytes are 40 letters, and there is room for the zero after them.
    unsafe { ffi::zmq_z85_encode(letters.as_mut_ptr().cast::<c_char>(), bytes.as_ptr(), BYTES) };
    String::from_utf8_lossy(&letters[..LETTERS]).into_owned()
}
