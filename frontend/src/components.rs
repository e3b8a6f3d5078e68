//! Parts of pages: values in, callbacks out. No fetching, no routing, no context.

pub(crate) mod adopt_dialog;
pub(crate) mod confirm;
pub(crate) mod copy_button;
pub(crate) mod cost_table;
pub(crate) mod diff_view;
pub(crate) mod differences;
pub(crate) mod dynamic;
pub(crate) mod handler;
pub(crate) mod icon;
pub(crate) mod loaded;
pub(crate) mod look;
pub(crate) mod markdown;
pub(crate) mod night_cells;
pub(crate) mod night_sources;
pub(crate) mod numbers;
pub(crate) mod protected;
pub(crate) mod ranges;
pub(crate) mod run_cells;
pub(crate) mod settings_head;
pub(crate) mod spark;
pub(crate) mod stages;
pub(crate) mod states;
pub(crate) mod status;
pub(crate) mod tabs;
pub(crate) mod trajectory_view;
pub(crate) mod when;
