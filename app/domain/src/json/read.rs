//! Types read from a [`Json`]. For each kind of type exactly one method of its reader is called (an object for a
//! struct, a text for a field name or a word), so that the others are never compiled into a program.

use super::{Json, JsonError};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, Expected, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use std::fmt::Display;
use std::vec;

impl Error for JsonError {
    fn custom<T: Display>(what: T) -> Self {
        Self::new(what.to_string())
    }

    fn missing_field(name: &'static str) -> Self {
        Self::new("is missing").within(name)
    }

    fn duplicate_field(name: &'static str) -> Self {
        Self::new("stands there twice").within(name)
    }

    fn unknown_variant(word: &str, _: &'static [&'static str]) -> Self {
        Self::unknown_word(word)
    }

    fn invalid_type(_: Unexpected<'_>, _: &dyn Expected) -> Self {
        wrong_kind()
    }

    fn invalid_value(_: Unexpected<'_>, _: &dyn Expected) -> Self {
        Self::new("the value is out of range")
    }

    fn invalid_length(_: usize, _: &dyn Expected) -> Self {
        Self::new("the list has another length than expected")
    }
}

fn wrong_kind() -> JsonError {
    JsonError::new("the value is of another kind than expected")
}

macro_rules! whole_numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
            match self {
                Self::Unsigned(value) => visitor.visit_u64(value),
                Self::Signed(value) => visitor.visit_i64(value),
                _ => Err(wrong_kind()),
            }
        }
    )*};
}

macro_rules! texts {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
            match self {
                Self::Text(text) => visitor.visit_string(text),
                _ => Err(wrong_kind()),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Json {
    type Error = JsonError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
        match self {
            Self::Null => visitor.visit_unit(),
            Self::Bool(value) => visitor.visit_bool(value),
            Self::Unsigned(value) => visitor.visit_u64(value),
            Self::Signed(value) => visitor.visit_i64(value),
            Self::Float(value) => visitor.visit_f64(value),
            Self::Text(text) => visitor.visit_string(text),
            Self::List(items) => visitor.visit_seq(Items::of(items)),
            Self::Object(fields) => visitor.visit_map(Entries::of(fields)),
        }
    }

    whole_numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }
    texts! { deserialize_char deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
        match self {
            Self::Bool(value) => visitor.visit_bool(value),
            _ => Err(wrong_kind()),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
        match self {
            Self::Float(value) => visitor.visit_f64(value),
            Self::Unsigned(value) => visitor.visit_f64(nearest(value)),
            Self::Signed(value) => visitor.visit_f64(-nearest(value.unsigned_abs())),
            _ => Err(wrong_kind()),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
        match self {
            Self::Null => visitor.visit_none(),
            value => visitor.visit_some(value),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
        match self {
            Self::Null => visitor.visit_unit(),
            _ => Err(wrong_kind()),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, JsonError> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, JsonError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
        match self {
            Self::List(items) => visitor.visit_seq(Items::of(items)),
            _ => Err(wrong_kind()),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, JsonError> {
        match &self {
            Self::List(items) if items.len() != length => {
                Err(JsonError::invalid_length(0, &visitor))
            }
            _ => self.deserialize_seq(visitor),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, JsonError> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
        match self {
            Self::Object(fields) => visitor.visit_map(Entries::of(fields)),
            _ => Err(wrong_kind()),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, JsonError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, JsonError> {
        match self {
            Self::Text(word) => visitor.visit_enum(Word(word)),
            _ => Err(wrong_kind()),
        }
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
        match self {
            Self::Text(name) => visitor.visit_str(&name),
            _ => Err(wrong_kind()),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
        visitor.visit_unit()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a float was asked for: the nearest one is meant")]
fn nearest(value: u64) -> f64 {
    value as f64
}

struct Items {
    items: vec::IntoIter<Json>,
    length: usize,
}

impl Items {
    fn of(items: Vec<Json>) -> Self {
        Self { length: items.len(), items: items.into_iter() }
    }
}

impl<'de> SeqAccess<'de> for Items {
    type Error = JsonError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, JsonError> {
        let Some(item) = self.items.next() else { return Ok(None) };
        match seed.deserialize(item) {
            Ok(value) => Ok(Some(value)),
            Err(err) => {
                let index = self.length - self.items.len() - 1;
                Err(err.within(&["[", &index.to_string(), "]"].concat()))
            }
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct Entries {
    fields: vec::IntoIter<(String, Json)>,
    current: Option<(String, Json)>,
}

impl Entries {
    fn of(fields: Vec<(String, Json)>) -> Self {
        Self { fields: fields.into_iter(), current: None }
    }
}

impl<'de> MapAccess<'de> for Entries {
    type Error = JsonError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, JsonError> {
        self.current = self.fields.next();
        let Some((name, _)) = &self.current else { return Ok(None) };
        seed.deserialize(Json::Text(name.clone())).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, JsonError> {
        let (name, value) = self.current.take().unwrap_or((String::new(), Json::Null));
        seed.deserialize(value).map_err(|err| err.within(&name))
    }
}

/// An enum without data: one word.
struct Word(String);

impl<'de> EnumAccess<'de> for Word {
    type Error = JsonError;
    type Variant = NoData;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, NoData), JsonError> {
        Ok((seed.deserialize(Json::Text(self.0))?, NoData))
    }
}

struct NoData;

impl<'de> VariantAccess<'de> for NoData {
    type Error = JsonError;

    fn unit_variant(self) -> Result<(), JsonError> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, JsonError> {
        Err(wrong_kind())
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, JsonError> {
        Err(wrong_kind())
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, JsonError> {
        Err(wrong_kind())
    }
}
