//! State with an owner: what outlives a page, and nothing else.

pub(crate) mod effect;
pub(crate) mod keys;
pub(crate) mod load;
pub(crate) mod memo;
pub(crate) mod overlay;
pub(crate) mod page;
pub(crate) mod query;
pub(crate) mod route;
pub(crate) mod signal;
pub(crate) mod theme;
