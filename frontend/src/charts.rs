//! Charts: pure geometry, tested natively, and thin SVG components over it. No fetching, no routing.

mod axes;
mod csv;
pub(crate) mod export;
mod export_menu;
mod labels;
mod marks;
pub(crate) mod multiple;
pub(crate) mod overlay;
pub(crate) mod overlay_chart;
mod parts;
pub(crate) mod path;
pub(crate) mod pointer;
mod readout;
pub(crate) mod scale;
pub(crate) mod score;
pub(crate) mod score_chart;
mod score_layers;
mod score_table;
pub(crate) mod series;
pub(crate) mod slow;
mod width;
