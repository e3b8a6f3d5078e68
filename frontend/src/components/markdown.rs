//! Markdown as elements, made node by node from the tree that the server sends; never as HTML text.

use super::icon::Icon;
use super::protected::{Blocks, Protected, cut};
use leptos::prelude::*;
use skillopt_domain::markdown::{GroupKind, MarkdownNode, RenderedSkill, WebAddress};

/// A skill as it is read: its front matter as facts, its body rendered.
#[component]
pub(crate) fn SkillRendered(rendered: RenderedSkill) -> impl IntoView {
    let facts =
        rendered.facts.into_iter().map(|fact| view! { <dt>{fact.key}</dt><dd>{fact.value}</dd> });
    let facts = facts.collect_view();
    let meta = (!facts.is_empty()).then(|| {
        view! {
            {protected_label(Protected::FrontMatter)}
            <dl class="markdown__meta">{facts}</dl>
        }
    });
    let blocks: Vec<AnyView> = cut(&rendered.nodes).iter().flat_map(blocks_view).collect();
    let rest = rendered.is_cut.then(
        || view! { <p class="muted small">"The text goes on: see it raw, or export it."</p> },
    );
    view! { <div class="markdown">{meta}{blocks}{rest}</div> }
}

/// Blocks that no edit can change stand in a band of their own.
fn blocks_view(blocks: &Blocks<'_>) -> Vec<AnyView> {
    let inner = nodes_view(blocks.nodes);
    let Some(region) = blocks.region else { return inner };
    let part = Protected::Region(region);
    let band = view! {
        <section class="markdown__protected" aria-label=part.label()>
            {protected_label(part)}
            <div class="markdown">{inner}</div>
        </section>
    };
    vec![band.into_any()]
}

fn protected_label(part: Protected) -> AnyView {
    view! { <p class="protected-label" title="No edit can change this text"><Icon name="lock"/>{part.label()}</p> }
        .into_any()
}

fn nodes_view(nodes: &[MarkdownNode]) -> Vec<AnyView> {
    nodes.iter().map(node_view).collect()
}

fn node_view(node: &MarkdownNode) -> AnyView {
    match node {
        MarkdownNode::Text { text } => text.clone().into_any(),
        MarkdownNode::Code { text } => view! { <code>{text.clone()}</code> }.into_any(),
        MarkdownNode::Break => view! { <br/> }.into_any(),
        MarkdownNode::Rule => view! { <hr/> }.into_any(),
        MarkdownNode::Checkbox { is_done } => {
            view! { <input type="checkbox" disabled checked=*is_done/> }.into_any()
        }
        MarkdownNode::Heading { level, children } => heading(*level, nodes_view(children)),
        MarkdownNode::List { first, children } => list(*first, nodes_view(children)),
        MarkdownNode::Link { address, children } => link(address.as_ref(), nodes_view(children)),
        MarkdownNode::Group { kind, children } => group(*kind, children),
    }
}

fn group(kind: GroupKind, children: &[MarkdownNode]) -> AnyView {
    if kind == GroupKind::Table {
        return table(children);
    }
    let inner = nodes_view(children);
    match kind {
        GroupKind::Paragraph => view! { <p>{inner}</p> }.into_any(),
        GroupKind::Quote => view! { <blockquote>{inner}</blockquote> }.into_any(),
        GroupKind::CodeBlock => view! { <pre><code>{inner}</code></pre> }.into_any(),
        GroupKind::Item => view! { <li>{inner}</li> }.into_any(),
        GroupKind::TableHead | GroupKind::TableRow => view! { <tr>{inner}</tr> }.into_any(),
        GroupKind::TableCell => view! { <td>{inner}</td> }.into_any(),
        GroupKind::Emphasis => view! { <em>{inner}</em> }.into_any(),
        GroupKind::Strong => view! { <strong>{inner}</strong> }.into_any(),
        GroupKind::Strike => view! { <s>{inner}</s> }.into_any(),
        GroupKind::Image => {
            view! { <span class="markdown__image">"image: " {inner}</span> }.into_any()
        }
        GroupKind::Plain | GroupKind::Table => inner.into_any(),
    }
}

fn heading(level: u8, inner: Vec<AnyView>) -> AnyView {
    match level {
        1 => view! { <h1>{inner}</h1> }.into_any(),
        2 => view! { <h2>{inner}</h2> }.into_any(),
        3 => view! { <h3>{inner}</h3> }.into_any(),
        4 => view! { <h4>{inner}</h4> }.into_any(),
        5 => view! { <h5>{inner}</h5> }.into_any(),
        _ => view! { <h6>{inner}</h6> }.into_any(),
    }
}

fn list(first: Option<u64>, items: Vec<AnyView>) -> AnyView {
    match first {
        None => view! { <ul>{items}</ul> }.into_any(),
        Some(first) => view! { <ol start=first.to_string()>{items}</ol> }.into_any(),
    }
}

// The address stands in the title, so that a text cannot hide where it leads.
fn link(address: Option<&WebAddress>, inner: Vec<AnyView>) -> AnyView {
    let Some(address) = address.map(WebAddress::to_string) else { return inner.into_any() };
    view! {
        <a href=address.clone() title=address target="_blank" rel="noopener noreferrer nofollow">{inner}</a>
    }
    .into_any()
}

fn table(rows: &[MarkdownNode]) -> AnyView {
    let is_head =
        |row: &&MarkdownNode| matches!(row, MarkdownNode::Group { kind: GroupKind::TableHead, .. });
    let (head, body): (Vec<_>, Vec<_>) = rows.iter().partition(is_head);
    let head = head.into_iter().map(head_row).collect_view();
    let body = body.into_iter().map(node_view).collect_view();
    view! { <table><thead>{head}</thead><tbody>{body}</tbody></table> }.into_any()
}

fn head_row(row: &MarkdownNode) -> AnyView {
    let MarkdownNode::Group { children: cells, .. } = row else { return node_view(row) };
    let cells = cells
        .iter()
        .map(|cell| match cell {
            MarkdownNode::Group { children, .. } => {
                view! { <th scope="col">{nodes_view(children)}</th> }.into_any()
            }
            other => node_view(other),
        })
        .collect_view();
    view! { <tr>{cells}</tr> }.into_any()
}
