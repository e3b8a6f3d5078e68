//! The menu of a chart: as a table, and out of the page as CSV, SVG or PNG.

use super::csv::Table;
use super::export;
use super::parts::run_curves_menu;
use crate::components::dynamic::{nothing, when};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::svg;
use std::sync::atomic::{AtomicU32, Ordering};

static NEXT_MENU: AtomicU32 = AtomicU32::new(0);

/// What the menu acts on.
#[derive(Clone, Copy)]
pub(crate) struct Exports {
    /// Name of the files, without an ending.
    pub(crate) name: StoredValue<String>,
    pub(crate) chart: NodeRef<svg::Svg>,
    pub(crate) table: Memo<Table>,
}

#[component]
pub(crate) fn ExportMenu(
    exports: Exports,
    /// The table is shown in the place of the plot.
    as_table: RwSignal<bool>,
) -> impl IntoView {
    let id = format!("chart-menu-{}", NEXT_MENU.fetch_add(1, Ordering::Relaxed));
    let table_word = move || if as_table.get() { "Show as chart" } else { "Show as table" };
    let was_opened = RwSignal::new(false);
    let asked = MenuAsked { exports, as_table, id: StoredValue::new(id.clone()) };
    view! {
        <button
            class="icon-button" type="button" title=move || table_word() aria-label=move || table_word()
            aria-pressed=move || as_table.get().to_string()
            on:click=handler(move |_| as_table.update(|on| *on = !*on))
        >
            <Icon name="columns"/>
        </button>
        <button
            class="icon-button" type="button" popovertarget=id.clone() aria-label="Export" title="Export CSV, SVG or PNG"
            on:click=handler(move |_| was_opened.set(true))
        >
            <Icon name="download"/>
        </button>
        <div class="menu" id=id popover="auto" role="menu">
            {when(move || was_opened.get(), move || run_curves_menu::show(asked), nothing)}
        </div>
    }
}

/// Which menu was opened.
#[derive(Clone, Copy)]
pub(crate) struct MenuAsked {
    exports: Exports,
    as_table: RwSignal<bool>,
    id: StoredValue<String>,
}

/// What can be chosen.
#[component]
pub(super) fn MenuItems(asked: MenuAsked) -> impl IntoView {
    let MenuAsked { exports, as_table, id } = asked;
    let id = id.get_value();
    let file = move |ending: &str| format!("{}.{ending}", exports.name.get_value());
    let csv = move |_| {
        let text = exports.table.with_untracked(Table::to_csv);
        let _ = export::save_text(&file("csv"), "text/csv;charset=utf-8", &text);
    };
    let svg = move |_| {
        let text = exports.chart.get_untracked().and_then(|chart| export::svg_text(&chart));
        let _ = text.and_then(|text| export::save_text(&file("svg"), "image/svg+xml", &text));
    };
    let png = move |_| {
        let _ =
            exports.chart.get_untracked().and_then(|chart| export::save_png(file("png"), &chart));
    };
    let no_picture = move || as_table.get();
    view! {
        <button class="menu__item" role="menuitem" type="button" popovertarget=id.clone() popovertargetaction="hide" on:click=handler(csv)>"Numbers as CSV"</button>
        <button class="menu__item" role="menuitem" type="button" popovertarget=id.clone() popovertargetaction="hide" disabled=move || no_picture() on:click=handler(svg)>"Chart as SVG"</button>
        <button class="menu__item" role="menuitem" type="button" popovertarget=id.clone() popovertargetaction="hide" disabled=move || no_picture() on:click=handler(png)>"Chart as PNG"</button>
    }
}
