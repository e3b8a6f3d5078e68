//! What of a night is read by few, with its code in a file of its own.

use super::evidence::Evidence;
use super::state::NightState;
use crate::parts::part::part;
use leptos::prelude::*;

part!(night_evidence, NightState, |night| view! { <Evidence night/> }.into_any());
