//! Text as a person searches it, and numbers as one types them. In the browser its own functions do the work: Rust's
//! tables of letters and of powers are large.

/// In lower case, in whatever script.
pub(crate) fn lower(text: &str) -> String {
    if cfg!(target_arch = "wasm32") {
        String::from(js_sys::JsString::from(text).to_lower_case())
    } else {
        text.to_lowercase()
    }
}

/// The number that a text begins with.
pub(crate) fn number(text: &str) -> Option<f64> {
    let number = if cfg!(target_arch = "wasm32") {
        js_sys::Number::parse_float(text)
    } else {
        text.parse().unwrap_or(f64::NAN)
    };
    Some(number).filter(|number| number.is_finite())
}
