//! [`Guarded`]: the deserializer that serde reads a message from, with an [`Allowance`]. It passes on what the format
//! says, and refuses a value that is nested too deeply, or that takes more memory than is left.
//!
//! Memory is counted if a value is stored outside the one that it is a part of: an element of a list, a key or a value
//! of a map, and the target of a pointer, which is larger than the place it is read for. Texts and bytes are as long in
//! memory as in the frame, and count nothing.
//!
//! Of one thread. It calls what the program says of its types, and keeps nothing from panicking there. It is made for formats that call
//! a visitor by the kind that was asked for, as postcard does; for others it would refuse what is right.

use core::cell::{Cell, RefCell};
use core::fmt;

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor};

use super::Malformed;
use super::limits::Allowance;

/// A list says how many elements will come, and its memory is reserved at once, at most for this many.
const BELIEVED: usize = 4_096;

/// What is counted while a message is read.
pub(super) struct Meter<'a> {
    allowance: RefCell<&'a mut Allowance>,
    depth: usize,
    refused: Cell<Option<Malformed>>,
}

impl<'a> Meter<'a> {
    pub(super) fn new(allowance: &'a mut Allowance) -> Self {
        let depth = allowance.depth;
        Self { allowance: RefCell::new(allowance), depth, refused: Cell::new(None) }
    }

    /// What it has refused.
    pub(super) fn refused(&self) -> Option<Malformed> {
        self.refused.get()
    }

    fn refuse<E: Error>(&self, malformed: Malformed) -> E {
        self.refused.set(Some(malformed));
        E::custom("more than is allowed")
    }

    fn take<E: Error>(&self, bytes: usize) -> Result<(), E> {
        self.allowance.borrow_mut().take(bytes).map_err(|malformed| self.refuse(malformed))
    }
}

/// A part of serde's, guarded.
pub(super) struct Guarded<'m, 'a, X> {
    inner: X,
    meter: &'m Meter<'a>,
    /// Levels below this one.
    depth: usize,
    /// Bytes that the value's place has, which are counted already.
    place: usize,
    /// What it has are elements, each with memory of its own.
    is_list: bool,
}

impl<'m, 'a, X> Guarded<'m, 'a, X> {
    /// For a value that has a place of this many bytes.
    pub(super) fn new(inner: X, meter: &'m Meter<'a>, place: usize) -> Self {
        Self { inner, meter, depth: meter.depth, place, is_list: false }
    }

    /// Another part of the same message, at the same depth.
    fn with<Y>(&self, inner: Y, place: usize) -> Guarded<'m, 'a, Y> {
        Guarded { inner, meter: self.meter, depth: self.depth, place, is_list: false }
    }

    /// A value of this many bytes is read. Bytes beyond its place are behind a pointer.
    fn holds<V, E: Error>(&self) -> Result<(), E> {
        match size_of::<V>() {
            bytes if bytes > self.place => self.meter.take(bytes),
            _ => Ok(()),
        }
    }

    /// As above, for a value that contains others. Returns what is left, and the visitor.
    fn opens<'de, V: Visitor<'de>, E: Error>(self, visitor: V, is_list: bool) -> Result<(X, Guarded<'m, 'a, V>), E> {
        self.holds::<V::Value, E>()?;
        let Some(depth) = self.depth.checked_sub(1) else { return Err(self.meter.refuse(Malformed::Depth)) };
        let place = size_of::<V::Value>();
        Ok((self.inner, Guarded { inner: visitor, meter: self.meter, depth, place, is_list }))
    }
}

/// Asks for a value without others in it.
macro_rules! forward {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.holds::<V::Value, D::Error>()?;
            self.inner.$method(visitor)
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Guarded<'_, '_, D> {
    type Error = D::Error;

    forward! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64
        deserialize_char deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf deserialize_unit
        deserialize_any deserialize_identifier deserialize_ignored_any
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        self.holds::<V::Value, D::Error>()?;
        self.inner.deserialize_unit_struct(name, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let (inner, visitor) = self.opens::<V, D::Error>(visitor, false)?;
        inner.deserialize_option(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        let (inner, visitor) = self.opens::<V, D::Error>(visitor, false)?;
        inner.deserialize_newtype_struct(name, visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let (inner, visitor) = self.opens::<V, D::Error>(visitor, true)?;
        inner.deserialize_seq(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, D::Error> {
        let (inner, visitor) = self.opens::<V, D::Error>(visitor, false)?;
        inner.deserialize_tuple(length, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let (inner, visitor) = self.opens::<V, D::Error>(visitor, false)?;
        inner.deserialize_tuple_struct(name, length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let (inner, visitor) = self.opens::<V, D::Error>(visitor, true)?;
        inner.deserialize_map(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let (inner, visitor) = self.opens::<V, D::Error>(visitor, false)?;
        inner.deserialize_struct(name, fields, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let (inner, visitor) = self.opens::<V, D::Error>(visitor, false)?;
        inner.deserialize_enum(name, variants, visitor)
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Guarded<'_, '_, V> {
    type Value = V::Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(out)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        let inner = self.with(inner, self.place);
        self.inner.visit_some(inner)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        let inner = self.with(inner, self.place);
        self.inner.visit_newtype_struct(inner)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        let inner = Guarded { is_list: self.is_list, ..self.with(inner, self.place) };
        self.inner.visit_seq(inner)
    }

    fn visit_map<A: MapAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        let inner = Guarded { is_list: self.is_list, ..self.with(inner, self.place) };
        self.inner.visit_map(inner)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        let inner = self.with(inner, self.place);
        self.inner.visit_enum(inner)
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Guarded<'_, '_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        let bytes = size_of::<S::Value>();
        if self.is_list {
            self.meter.take(bytes)?;
        }
        let inner = self.with(inner, bytes);
        self.inner.deserialize(inner)
    }
}

impl<'m, 'a, X> Guarded<'m, 'a, X> {
    /// One of the parts of what it has.
    fn part<S>(&self, seed: S) -> Guarded<'m, 'a, S> {
        Guarded { is_list: self.is_list, ..self.with(seed, self.place) }
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Guarded<'_, '_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        let seed = self.part(seed);
        self.inner.next_element_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint().map(|elements| elements.min(BELIEVED))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Guarded<'_, '_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        let seed = self.part(seed);
        self.inner.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let seed = self.part(seed);
        self.inner.next_value_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint().map(|elements| elements.min(BELIEVED))
    }
}

impl<'m, 'a, 'de, A: EnumAccess<'de>> EnumAccess<'de> for Guarded<'m, 'a, A> {
    type Error = A::Error;
    type Variant = Guarded<'m, 'a, A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), A::Error> {
        let Self { inner, meter, depth, place, is_list } = self;
        let (which, inner) = inner.variant_seed(seed)?;
        Ok((which, Guarded { inner, meter, depth, place, is_list }))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Guarded<'_, '_, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        let seed = self.part(seed);
        self.inner.newtype_variant_seed(seed)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, A::Error> {
        let visitor = self.with(visitor, self.place);
        self.inner.tuple_variant(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let visitor = self.with(visitor, self.place);
        self.inner.struct_variant(fields, visitor)
    }
}
