//! Text as a person searches it. In the browser its own functions do the work: Rust's tables of letters are large.

/// In lower case, in whatever script.
pub(crate) fn lower(text: &str) -> String {
    if cfg!(target_arch = "wasm32") {
        String::from(js_sys::JsString::from(text).to_lower_case())
    } else {
        text.to_lowercase()
    }
}
