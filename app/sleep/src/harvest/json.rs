//! Parts of JSON records that are what they should be, or nothing: a wrong shape deep in a record does not lose it.

use super::Instant;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// Why a line yields no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadLine {
    /// It is no JSON, or JSON that is cut.
    NotJson,
    /// It is nested deeper than is read.
    TooDeep,
    /// It is JSON but not of the shape of a record.
    WrongShape,
}

/// The record in `line`. Bytes that are no UTF-8 and halves of surrogate pairs are replaced, in `spare`.
///
/// # Errors
/// Why there is no record.
pub(crate) fn record<'a, T: Deserialize<'a>>(
    line: &'a [u8],
    spare: &'a mut String,
) -> Result<T, BadLine> {
    let error = match serde_json::from_slice::<T>(line) {
        Ok(record) => return Ok(record),
        Err(error) => error,
    };
    let Some(text) = mended(line) else { return Err(reason(&error)) };
    *spare = text;
    serde_json::from_str::<T>(spare).map_err(|error| reason(&error))
}

/// Why a parse failed.
pub(crate) fn reason(error: &serde_json::Error) -> BadLine {
    if error.is_data() {
        BadLine::WrongShape
    } else if error.to_string().starts_with("recursion limit") {
        BadLine::TooDeep
    } else {
        BadLine::NotJson
    }
}

/// The line with what no text can hold replaced; none when there is no such thing.
pub(crate) fn mended(line: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    let halves = without_lone_surrogates(&text);
    match (text, halves) {
        (_, Some(mended)) => Some(mended),
        (Cow::Owned(text), None) => Some(text),
        (Cow::Borrowed(_), None) => None,
    }
}

/// Replaces `\ud83d` without its other half.
fn without_lone_surrogates(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut from = 0;
    let mut at = 0;
    while let Some(step) = memchr::memchr(b'\\', &bytes[at..]) {
        at += step;
        let unit = code_unit(bytes, at);
        match unit {
            Some(0xd800..=0xdbff) if matches!(code_unit(bytes, at + 6), Some(0xdc00..=0xdfff)) => {
                at += 12;
            }
            Some(0xd800..=0xdfff) => {
                out.push_str(&text[from..at]);
                out.push_str("\\ufffd");
                at += 6;
                from = at;
            }
            _ => at = (at + 2).min(bytes.len()),
        }
    }
    (from > 0).then(|| {
        out.push_str(&text[from..]);
        out
    })
}

fn code_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// A single value that may be anything.
#[derive(Clone, Debug, Default)]
pub(crate) enum Scalar<'a> {
    Text(Cow<'a, str>),
    Whole(u64),
    Float(f64),
    Flag(bool),
    #[default]
    Other,
}

impl Scalar<'_> {
    /// The text, or an empty one.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => "",
        }
    }

    /// Whether it is `true`.
    pub(crate) fn is_true(&self) -> bool {
        matches!(self, Self::Flag(true))
    }

    /// The number, or 0.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Whole(count) => *count,
            _ => 0,
        }
    }

    /// The time that it spells.
    pub(crate) fn time(&self) -> Option<Instant> {
        match self {
            Self::Text(text) => Instant::parse(text),
            Self::Whole(number) => Instant::from_whole(*number),
            Self::Float(number) => Instant::from_number(*number),
            Self::Flag(_) | Self::Other => None,
        }
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Scalar::Whole(number))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Other)
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Scalar::Float(number))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Scalar::Flag(flag))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Scalar::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

/// An object, a text, a list of objects, or something else.
#[derive(Clone, Debug, Default)]
pub(crate) enum Shape<'a, T> {
    Object(T),
    List(Vec<Shape<'a, T>>),
    Text(Cow<'a, str>),
    #[default]
    Other,
}

impl<'a, T> Shape<'a, T> {
    /// The object, where it is one.
    pub(crate) fn object(&self) -> Option<&T> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The objects of the list.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &T> {
        self.list().iter().filter_map(Self::object)
    }

    /// The list, or an empty one.
    pub(crate) fn list(&self) -> &[Shape<'a, T>] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// The text, where it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

struct ShapeVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ShapeVisitor<T> {
    type Value = Shape<'de, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Shape::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Shape::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Shape::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Shape::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Shape::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Shape::Other)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Shape::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Shape<'de, T>>()? {
            list.push(item);
        }
        Ok(Shape::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(entries)).map(Shape::Object)
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Shape<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::{BadLine, Scalar, Shape, mended, record};
    use serde::Deserialize;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Note<'a> {
        #[serde(borrow)]
        text: Scalar<'a>,
        #[serde(borrow)]
        inner: Shape<'a, Inner<'a>>,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Inner<'a> {
        #[serde(borrow)]
        name: Scalar<'a>,
    }

    #[test]
    fn a_wrong_shape_inside_does_not_lose_the_record() {
        let mut spare = String::new();
        let note: Note<'_> =
            record(br#"{"text":"t","inner":[1,null,{"name":"n"},["x"],{"name":7}]}"#, &mut spare)
                .unwrap();
        assert_eq!(note.text.text(), "t");
        let names: Vec<&str> = note.inner.objects().map(|inner| inner.name.text()).collect();
        assert_eq!(names, ["n", ""]);
    }

    #[test]
    fn c103_lines_of_other_shapes_have_a_reason() {
        let mut spare = String::new();
        for line in ["null", "[]", "\"text\"", "7"] {
            let found =
                record::<Note<'_>>(line.as_bytes(), &mut spare).map(|note| note.text.count());
            assert_eq!(
                found,
                if line == "[]" { Ok(0) } else { Err(BadLine::WrongShape) },
                "{line}"
            );
        }
        assert_eq!(
            record::<Note<'_>>(b"{\"text\":\"cut", &mut spare).err(),
            Some(BadLine::NotJson)
        );
        let deep = format!("{{\"inner\":{}{}}}", "[".repeat(3000), "]".repeat(3000));
        assert_eq!(record::<Note<'_>>(deep.as_bytes(), &mut spare).err(), Some(BadLine::TooDeep));
    }

    #[test]
    fn c03_bytes_that_are_no_text_are_replaced() {
        let mut spare = String::new();
        let note: Note<'_> = record(b"{\"text\":\"a\xb2b\"}", &mut spare).unwrap();
        assert_eq!(note.text.text(), "a\u{fffd}b");
        let note: Note<'_> = record(br#"{"text":"a\ud83d b \ud83d\ude00"}"#, &mut spare).unwrap();
        assert_eq!(note.text.text(), "a\u{fffd} b \u{1f600}");
        assert_eq!(mended(b"fine \\n"), None);
    }
}
