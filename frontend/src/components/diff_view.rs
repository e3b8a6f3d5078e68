//! A diff as a table: unified or two abreast, words marked, far lines folded. Shows what it is given.

mod rows;

use crate::components::dynamic::{CollectAny, Item, dynamic, each, nothing, when};
use crate::components::handler::handler;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use rows::{DiffRow, Pair, folded, pairs};
use skillopt_domain::diff::{Diff, DiffKind, DiffLine, DiffPiece};
use skillopt_domain::skill::Eol;

/// Rows that are drawn at once; more come when asked for, so that a long text never freezes the page.
const WINDOW: usize = 200;

/// How a diff is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiffLayout {
    Unified,
    SideBySide,
}

/// A diff. Two abreast it turns unified on a narrow screen.
#[component]
pub(crate) fn DiffView(
    diff: Diff,
    #[prop(default = DiffLayout::Unified)] layout: DiffLayout,
    /// What is compared, for the label of the table.
    #[prop(into)]
    label: String,
) -> impl IntoView {
    let eol = diff.eol_change.map(|(old, new)| {
        view! { <p class="small second diff__note">{format!("Line ends change from {} to {}.", eol_name(old), eol_name(new))}</p> }.into_any()
    });
    let rows = StoredValue::new(folded(diff.lines));
    let tables = match layout {
        DiffLayout::Unified => view! { <Unified rows label=label/> }.into_any(),
        DiffLayout::SideBySide => view! {
            <div class="only-wide"><SideBySide rows label=label.clone()/></div>
            <div class="only-narrow"><Unified rows label=label/></div>
        }
        .into_any(),
    };
    view! { {eol} {tables} }
}

#[component]
fn Unified(rows: StoredValue<Vec<DiffRow>>, label: String) -> impl IntoView {
    let shown = RwSignal::new(WINDOW);
    let total = rows.with_value(Vec::len);
    let row = move |at: usize| {
        Item::new(at.to_string(), move || rows.with_value(|rows| unified_row(&rows[at])))
    };
    view! {
        <table class="diff" aria-label=label>
            <colgroup><col class="diff__num"/><col class="diff__num"/><col class="diff__sign"/><col/></colgroup>
            <tbody>
                {each(move || (0..shown.get().min(total)).map(row).collect())}
                <More shown total columns=4/>
            </tbody>
        </table>
    }
}

#[component]
fn SideBySide(rows: StoredValue<Vec<DiffRow>>, label: String) -> impl IntoView {
    let shown = RwSignal::new(WINDOW);
    let blocks = StoredValue::new(rows.with_value(|rows| side_blocks(rows)));
    let total = blocks.with_value(Vec::len);
    let row = move |at: usize| {
        Item::new(at.to_string(), move || {
            blocks.with_value(|blocks| match &blocks[at] {
                Block::Pair(pair) => pair_row(pair).into_any(),
                Block::Fold(lines) => view! { <Fold lines=lines.clone() columns=6/> }.into_any(),
            })
        })
    };
    view! {
        <table class="diff" data-layout="split" aria-label=label>
            <colgroup>
                <col class="diff__num"/><col class="diff__sign"/><col/>
                <col class="diff__num"/><col class="diff__sign"/><col/>
            </colgroup>
            <tbody>
                {each(move || (0..shown.get().min(total)).map(row).collect())}
                <More shown total columns=6/>
            </tbody>
        </table>
    }
}

enum Block {
    Pair(Pair),
    Fold(Vec<DiffLine>),
}

fn side_blocks(rows: &[DiffRow]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut run = Vec::new();
    for row in rows {
        match row {
            DiffRow::Line(line) => run.push(line.clone()),
            DiffRow::Fold(lines) => {
                blocks.extend(pairs(&std::mem::take(&mut run)).into_iter().map(Block::Pair));
                blocks.push(Block::Fold(lines.clone()));
            }
        }
    }
    blocks.extend(pairs(&run).into_iter().map(Block::Pair));
    blocks
}

#[component]
fn More(shown: RwSignal<usize>, total: usize, columns: u8) -> impl IntoView {
    dynamic(move || {
        let left = total.saturating_sub(shown.get());
        if left == 0 {
            return nothing();
        }
        view! {
            <tr class="diff__fold"><td colspan=columns.to_string()>
                <button class="link" on:click=handler(move |_| shown.update(|n| *n += WINDOW))>
                    {format!("Show {} more of {left} rows", left.min(WINDOW))}
                </button>
            </td></tr>
        }
        .into_any()
    })
}

/// A folded run of unchanged lines; a click shows it.
#[component]
fn Fold(lines: Vec<DiffLine>, columns: u8) -> impl IntoView {
    let is_open = RwSignal::new(false);
    let count = lines.len();
    let row = move |line: &DiffLine| {
        if columns == 4 {
            line_row(line).into_any()
        } else {
            pair_row(&Pair { old: Some(line.clone()), new: Some(line.clone()) }).into_any()
        }
    };
    let fold = move || {
        view! {
            <tr class="diff__fold"><td colspan=columns.to_string()>
                <button on:click=handler(move |_| is_open.set(true))>{format!("{count} unchanged lines")}</button>
            </td></tr>
        }
        .into_any()
    };
    when(move || is_open.get(), move || lines.iter().map(row).collect_any().into_any(), fold)
}

fn unified_row(row: &DiffRow) -> AnyView {
    match row {
        DiffRow::Line(line) => line_row(line).into_any(),
        DiffRow::Fold(lines) => view! { <Fold lines=lines.clone() columns=4/> }.into_any(),
    }
}

fn line_row(line: &DiffLine) -> impl IntoView + use<> {
    view! {
        <tr data-kind=kind_name(line.kind)>
            <td class="diff__num">{line.old_line}</td>
            <td class="diff__num">{line.new_line}</td>
            <td class="diff__sign">{sign(line.kind)}</td>
            <td>{words(line)}</td>
        </tr>
    }
}

fn pair_row(pair: &Pair) -> impl IntoView + use<> {
    view! {
        <tr>
            {half(pair.old.as_ref(), pair.old.as_ref().and_then(|line| line.old_line), "diff__num")}
            {half(pair.new.as_ref(), pair.new.as_ref().and_then(|line| line.new_line), "diff__num diff__split")}
        </tr>
    }
}

fn half(
    line: Option<&DiffLine>,
    number: Option<u32>,
    class: &'static str,
) -> impl IntoView + use<> {
    let kind = line.map_or(Some("none"), |line| kind_name(line.kind));
    view! {
        <td class=class data-kind=kind>{number}</td>
        <td class="diff__sign" data-kind=kind>{line.map(|line| sign(line.kind))}</td>
        <td data-kind=kind>{line.map(words)}</td>
    }
}

fn words(line: &DiffLine) -> Vec<AnyView> {
    line.pieces.iter().map(|piece| piece_view(piece, line.kind)).collect()
}

fn piece_view(piece: &DiffPiece, kind: DiffKind) -> AnyView {
    let text = piece.text.clone();
    match kind {
        DiffKind::Added if piece.changed => view! { <ins>{text}</ins> }.into_any(),
        DiffKind::Removed if piece.changed => view! { <del>{text}</del> }.into_any(),
        DiffKind::Same | DiffKind::Added | DiffKind::Removed => text.into_any(),
    }
}

fn kind_name(kind: DiffKind) -> Option<&'static str> {
    match kind {
        DiffKind::Same => None,
        DiffKind::Removed => Some("del"),
        DiffKind::Added => Some("add"),
    }
}

fn sign(kind: DiffKind) -> &'static str {
    match kind {
        DiffKind::Same => "",
        DiffKind::Removed => "\u{2212}",
        DiffKind::Added => "+",
    }
}

fn eol_name(eol: Eol) -> &'static str {
    match eol {
        Eol::Lf => "LF",
        Eol::CrLf => "CRLF",
        Eol::Cr => "CR",
    }
}
