//! Markdown as elements, made node by node from a parsed tree; never as HTML text.

mod tree;

use leptos::prelude::*;
use skillopt_domain::skill::SkillDoc;
use tree::{Kind, Node, parse};

/// A skill as it is read: its front matter as facts, its body rendered.
#[component]
pub(crate) fn SkillRendered(text: String) -> impl IntoView {
    let doc = SkillDoc::parse(text);
    let meta = doc.front_matter().map(|matter| {
        let rows = matter
            .entries
            .into_iter()
            .map(|entry| view! { <dt>{entry.key}</dt><dd>{entry.value}</dd> })
            .collect_view();
        view! { <dl class="markdown__meta">{rows}</dl> }
    });
    view! { <div class="markdown">{meta}{nodes_view(&parse(doc.body()))}</div> }
}

fn nodes_view(nodes: &[Node]) -> Vec<AnyView> {
    nodes.iter().map(node_view).collect()
}

fn node_view(node: &Node) -> AnyView {
    match node {
        Node::Text(text) => text.clone().into_any(),
        Node::Code(text) => view! { <code>{text.clone()}</code> }.into_any(),
        Node::Break => view! { <br/> }.into_any(),
        Node::Rule => view! { <hr/> }.into_any(),
        Node::Checkbox(is_done) => {
            view! { <input type="checkbox" disabled checked=*is_done/> }.into_any()
        }
        Node::Branch(kind, children) => branch_view(kind, children),
    }
}

fn branch_view(kind: &Kind, children: &[Node]) -> AnyView {
    let inner = || nodes_view(children);
    match kind {
        Kind::Paragraph => view! { <p>{inner()}</p> }.into_any(),
        Kind::Heading(level) => heading(*level, inner()),
        Kind::Quote => view! { <blockquote>{inner()}</blockquote> }.into_any(),
        Kind::CodeBlock => view! { <pre><code>{inner()}</code></pre> }.into_any(),
        Kind::List(None) => view! { <ul>{inner()}</ul> }.into_any(),
        Kind::List(Some(first)) => view! { <ol start=first.to_string()>{inner()}</ol> }.into_any(),
        Kind::Item => view! { <li>{inner()}</li> }.into_any(),
        Kind::Table => table(children),
        Kind::TableHead | Kind::TableRow => view! { <tr>{inner()}</tr> }.into_any(),
        Kind::TableCell => view! { <td>{inner()}</td> }.into_any(),
        Kind::Emphasis => view! { <em>{inner()}</em> }.into_any(),
        Kind::Strong => view! { <strong>{inner()}</strong> }.into_any(),
        Kind::Strike => view! { <s>{inner()}</s> }.into_any(),
        Kind::Link(Some(address)) => link(address.clone(), inner()),
        Kind::Link(None) | Kind::Plain => inner().into_any(),
        Kind::Image => {
            view! { <span class="markdown__image">"image: " {inner()}</span> }.into_any()
        }
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

// The address stands in the title, so that a text cannot hide where it leads.
fn link(address: String, inner: Vec<AnyView>) -> AnyView {
    view! {
        <a href=address.clone() title=address target="_blank" rel="noopener noreferrer nofollow">{inner}</a>
    }
    .into_any()
}

fn table(rows: &[Node]) -> AnyView {
    let (head, body): (Vec<&Node>, Vec<&Node>) =
        rows.iter().partition(|row| matches!(row, Node::Branch(Kind::TableHead, _)));
    let head = head.into_iter().map(head_row).collect_view();
    let body = body.into_iter().map(node_view).collect_view();
    view! { <table><thead>{head}</thead><tbody>{body}</tbody></table> }.into_any()
}

fn head_row(row: &Node) -> AnyView {
    let Node::Branch(_, cells) = row else { return node_view(row) };
    let cells = cells
        .iter()
        .map(|cell| match cell {
            Node::Branch(_, inner) => view! { <th scope="col">{nodes_view(inner)}</th> }.into_any(),
            other => node_view(other),
        })
        .collect_view();
    view! { <tr>{cells}</tr> }.into_any()
}
