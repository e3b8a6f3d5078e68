//! The dashboard. Starts the application; everything else lives in the modules.
#![allow(
    clippy::redundant_closure,
    reason = "`view!` gives one type to all closures that are written inside it, not to those that are only named there"
)]
#![allow(unreachable_pub, reason = "`#[component]` writes `pub` for items that are narrower")]

mod api;
mod app;
mod charts;
mod components;
mod fmt;
mod live;
mod order;
mod pages;
mod parts;
mod shell;
mod state;
mod text;
mod time;

fn main() {
    leptos::mount::mount_to_body(app::App);
}
