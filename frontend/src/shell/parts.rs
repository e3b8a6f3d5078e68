//! What floats over the page, fetched when it is opened first.

use super::keys_help::KeysHelp;
use super::palette::Palette;
use crate::components::dynamic::nothing;
use crate::parts::part::part;
use leptos::prelude::*;

part!(over_palette, (), |()| view! { <Palette/> }.into_any(), nothing);
part!(over_keys, (), |()| view! { <KeysHelp/> }.into_any(), nothing);
