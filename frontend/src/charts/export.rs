//! Takes a chart out of the page: as SVG with its colours written into it, as PNG, or as CSV. Touches the DOM
//! and nothing else; nothing is sent anywhere.

use js_sys::Array;
use leptos::prelude::{document, window};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    Blob, BlobPropertyBag, CanvasRenderingContext2d, Element, HtmlAnchorElement, HtmlCanvasElement,
    HtmlImageElement, SvgElement, Url, XmlSerializer,
};

/// What a stylesheet decides and a file must carry by itself.
const LOOKS: [&str; 13] = [
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "stroke-linejoin",
    "stroke-linecap",
    "opacity",
    "paint-order",
    "font-family",
    "font-size",
    "font-weight",
    "text-anchor",
];

/// Offers a text as a file.
pub(crate) fn save_text(name: &str, mime: &str, text: &str) -> Option<()> {
    let parts = Array::of1(&JsValue::from_str(text));
    let options = BlobPropertyBag::new();
    options.set_type(mime);
    let blob = Blob::new_with_str_sequence_and_options(&parts, &options).ok()?;
    save_blob(name, &blob)
}

fn save_blob(name: &str, blob: &Blob) -> Option<()> {
    let address = Url::create_object_url_with_blob(blob).ok()?;
    let link: HtmlAnchorElement = document().create_element("a").ok()?.dyn_into().ok()?;
    link.set_href(&address);
    link.set_download(name);
    link.click();
    Url::revoke_object_url(&address).ok()
}

/// The chart as a file of its own.
pub(crate) fn svg_text(chart: &SvgElement) -> Option<String> {
    let copy: Element = chart.clone_node_with_deep(true).ok()?.dyn_into().ok()?;
    write_looks(chart, &copy)?;
    for floating in [".chart__hit", ".chart__cross", ".chart__brush"] {
        let found = copy.query_selector_all(floating).ok()?;
        for at in 0..found.length() {
            let node = found.item(at)?.dyn_into::<Element>().ok()?;
            node.remove();
        }
    }
    let (width, height) = size(chart);
    copy.set_attribute("xmlns", "http://www.w3.org/2000/svg").ok()?;
    copy.set_attribute("width", &width.to_string()).ok()?;
    copy.set_attribute("height", &height.to_string()).ok()?;
    copy.prepend_with_node_1(ground(width, height)?.as_ref()).ok()?;
    XmlSerializer::new().ok()?.serialize_to_string(&copy).ok()
}

fn write_looks(chart: &Element, copy: &Element) -> Option<()> {
    let (from, to) = (chart.query_selector_all("*").ok()?, copy.query_selector_all("*").ok()?);
    for at in 0..from.length() {
        let original: Element = from.item(at)?.dyn_into().ok()?;
        let twin: Element = to.item(at)?.dyn_into().ok()?;
        let computed = window().get_computed_style(&original).ok()??;
        for look in LOOKS {
            let value = computed.get_property_value(look).unwrap_or_default();
            if !value.is_empty() {
                twin.set_attribute(look, &value).ok()?;
            }
        }
    }
    Some(())
}

fn ground(width: f64, height: f64) -> Option<Element> {
    let ground = document().create_element_ns(Some("http://www.w3.org/2000/svg"), "rect").ok()?;
    let body = document().body()?;
    let colour =
        window().get_computed_style(&body).ok()??.get_property_value("background-color").ok()?;
    ground.set_attribute("width", &width.to_string()).ok()?;
    ground.set_attribute("height", &height.to_string()).ok()?;
    ground.set_attribute("fill", &colour).ok()?;
    Some(ground)
}

fn size(chart: &SvgElement) -> (f64, f64) {
    let area = chart.get_bounding_client_rect();
    (area.width().round(), area.height().round())
}

/// Draws the chart at twice its size and offers it as PNG.
pub(crate) fn save_png(name: String, chart: &SvgElement) -> Option<()> {
    let text = svg_text(chart)?;
    let (width, height) = size(chart);
    let image = HtmlImageElement::new().ok()?;
    let drawn = image.clone();
    let on_load = Closure::once_into_js(move || {
        let _ = draw(&name, &drawn, width, height);
    });
    image.set_onload(Some(on_load.unchecked_ref()));
    let encoded = String::from(js_sys::encode_uri_component(&text));
    image.set_src(&format!("data:image/svg+xml;charset=utf-8,{encoded}"));
    Some(())
}

fn draw(name: &str, image: &HtmlImageElement, width: f64, height: f64) -> Option<()> {
    let canvas: HtmlCanvasElement = document().create_element("canvas").ok()?.dyn_into().ok()?;
    canvas.set_width(super::scale::to_count(width * 2.0));
    canvas.set_height(super::scale::to_count(height * 2.0));
    let context: CanvasRenderingContext2d = canvas.get_context("2d").ok()??.dyn_into().ok()?;
    context.scale(2.0, 2.0).ok()?;
    context
        .draw_image_with_html_image_element_and_dw_and_dh(image, 0.0, 0.0, width, height)
        .ok()?;
    let name = name.to_owned();
    let on_blob = Closure::once_into_js(move |blob: Blob| {
        let _ = save_blob(&name, &blob);
    });
    canvas.to_blob(on_blob.unchecked_ref()).ok()
}
