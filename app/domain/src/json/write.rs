//! A [`Json`] as text: `{}` in one line, `{:#}` indented, for people who want to see what was sent.

use super::Json;
use std::fmt::{self, Display, Formatter, Write as _};

impl Display for Json {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write(self, f.alternate().then_some(0), f)
    }
}

/// `indent` is the depth of an indented text.
fn write(value: &Json, indent: Option<usize>, f: &mut Formatter<'_>) -> fmt::Result {
    match value {
        Json::Null => f.write_str("null"),
        Json::Bool(value) => write!(f, "{value}"),
        Json::Unsigned(value) => write!(f, "{value}"),
        Json::Signed(value) => write!(f, "{value}"),
        Json::Float(value) => write!(f, "{value}"),
        Json::Text(text) => quote(text, f),
        Json::List(items) if items.is_empty() => f.write_str("[]"),
        Json::Object(fields) if fields.is_empty() => f.write_str("{}"),
        Json::List(items) => {
            f.write_char('[')?;
            for (at, item) in items.iter().enumerate() {
                next(at, indent, f)?;
                write(item, deeper(indent), f)?;
            }
            end(indent, f)?;
            f.write_char(']')
        }
        Json::Object(fields) => {
            f.write_char('{')?;
            for (at, (name, value)) in fields.iter().enumerate() {
                next(at, indent, f)?;
                quote(name, f)?;
                f.write_str(if indent.is_some() { ": " } else { ":" })?;
                write(value, deeper(indent), f)?;
            }
            end(indent, f)?;
            f.write_char('}')
        }
    }
}

fn deeper(indent: Option<usize>) -> Option<usize> {
    indent.map(|depth| depth + 1)
}

fn next(at: usize, indent: Option<usize>, f: &mut Formatter<'_>) -> fmt::Result {
    if at > 0 {
        f.write_char(',')?;
    }
    end(deeper(indent), f)
}

fn end(indent: Option<usize>, f: &mut Formatter<'_>) -> fmt::Result {
    let Some(depth) = indent else { return Ok(()) };
    f.write_char('\n')?;
    for _ in 0..depth {
        f.write_str("  ")?;
    }
    Ok(())
}

fn quote(text: &str, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_char('"')?;
    for char in text.chars() {
        match char {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '\0'..='\x1f' => write!(f, "\\u{:04x}", u32::from(char))?,
            _ => f.write_char(char)?,
        }
    }
    f.write_char('"')
}
