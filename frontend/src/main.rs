//! The dashboard. Starts the application; everything else lives in the modules.
#![allow(unreachable_pub, reason = "`#[component]` writes `pub` for items that are narrower")]

mod api;
mod app;
mod charts;
mod components;
mod fmt;
mod live;
mod order;
mod pages;
mod shell;
mod state;
mod time;

fn main() {
    leptos::mount::mount_to_body(app::App);
}
