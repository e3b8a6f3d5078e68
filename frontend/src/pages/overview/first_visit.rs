//! What one sees before the first run: what this is, three ways in, the same from a terminal, and what a step is.

use super::ways::{Size, Ways};
use crate::components::copy_button::Command;
use crate::components::stages::StagesAbout;
use leptos::prelude::*;

#[component]
pub(super) fn FirstVisit() -> impl IntoView {
    view! {
        <div class="page-head">
            <div class="page-head__main stack">
                <h1 class="display">"Train a skill the way you would train a model"</h1>
                <p class="second prose">
                    "A target model tries tasks with your SKILL.md, an optimizer proposes small edits, and an edit \
                     stays only if a held-out score goes up. Nothing is written to your skill until you adopt it."
                </p>
            </div>
        </div>
        <Ways size=Size::Full/>
        <section class="section" aria-labelledby="cli-title">
            <div class="section__head">
                <h2 id="cli-title">"Or from a terminal"</h2>
                <span>"a run started there shows up here, live"</span>
            </div>
            <div class="grid-2">
                <Command text="skillopt train --config configs/searchqa/sample.yaml"/>
                <Command text="skillopt doctor"/>
            </div>
        </section>
        <section class="section" aria-labelledby="how-title">
            <div class="section__head">
                <h2 id="how-title">"One step of training"</h2>
                <span>"repeated until the epochs are used up or a cap is reached"</span>
            </div>
            <StagesAbout/>
        </section>
    }
}
