//! The models' part of `skillopt doctor`: one test call a role, and what was found out by it.

use super::super::output::Output;
use super::super::train::ACTOR;
use crate::host::{Hosting, PROBES, TestScope, wire_fields};
use serde::Serialize;
use skillopt_domain::api::{CheckState, ModelTest, WireField};
use skillopt_domain::config::RunConfig;
use skillopt_domain::spend::Role;
use tokio_util::sync::CancellationToken;

/// What was found out about the model of a role.
#[derive(Debug, Serialize)]
pub(super) struct ModelReport {
    role: Role,
    backend: &'static str,
    model: String,
    base_url: String,
    /// The variable of the key that is sent; `None` for none.
    key: Option<String>,
    /// Where it was found.
    key_place: Option<String>,
    /// What goes on the wire with each call.
    wire: Vec<WireField>,
    /// Why no call was made; empty when one was.
    problem: String,
    test: Option<ModelTest>,
}

/// Calls each role's model, both at once.
pub(super) async fn test_models(
    hosting: &Hosting,
    config: &RunConfig,
    probe: bool,
    output: &Output,
) -> Vec<ModelReport> {
    let is_real = |role: &Role| !config.role(*role).is_simulated();
    let n_real = Role::ALL.iter().filter(|role| is_real(role)).count();
    if n_real > 0 {
        let further = if probe { PROBES.len() } else { 0 };
        output.note(&format!(
            "making {} calls of at most 64 tokens{}; your provider may charge for them",
            n_real * (1 + further),
            if probe {
                format!(", among them one a role for {}", PROBES.join(", "))
            } else {
                String::new()
            }
        ));
    }
    let (target, optimizer) = tokio::join!(
        test_model(hosting, config, Role::Target, probe),
        test_model(hosting, config, Role::Optimizer, probe)
    );
    vec![target, optimizer]
}

async fn test_model(hosting: &Hosting, config: &RunConfig, role: Role, probe: bool) -> ModelReport {
    let settings = config.role(role);
    let mut report = ModelReport {
        role,
        backend: settings.backend.as_str(),
        model: settings.model.clone(),
        base_url: String::new(),
        key: None,
        key_place: None,
        wire: Vec::new(),
        problem: String::new(),
        test: None,
    };
    let (model, key) = match hosting.model_with_key(config, role) {
        Ok(found) => found,
        Err(refused) => {
            report.problem = refused.to_string();
            return report;
        }
    };
    report.base_url.clone_from(&settings.base_url);
    report.wire = wire_fields(&model.identity());
    if let Some(key) = key {
        report.key_place = Some(key.place.to_string());
        report.key = Some(key.variable);
    }
    let scope = if probe { TestScope::Accepts } else { TestScope::Answer };
    match hosting.test_role(config, role, scope, ACTOR, &CancellationToken::new()).await {
        Ok(test) => report.test = Some(test),
        Err(failure) => report.problem = failure.to_string(),
    }
    report
}

impl ModelReport {
    pub(super) fn has_failed(&self) -> bool {
        !self.test.as_ref().is_some_and(|test| test.ok)
    }

    /// For people.
    pub(super) fn lines(&self) -> Vec<String> {
        let mark = if self.has_failed() { "FAIL" } else { "ok  " };
        let label = format!("Call to the {}", self.role);
        let figure = self.test.as_ref().map_or_else(String::new, figure);
        let mut lines = vec![format!("{mark}  {label:22} {figure}")];
        let mut add = |text: String| lines.push(format!("      {text}"));
        let at =
            if self.base_url.is_empty() { String::new() } else { format!(" at {}", self.base_url) };
        add(format!("{} by {}{at}", self.model, self.backend));
        match (&self.key, &self.key_place) {
            (Some(key), Some(place)) => add(format!("key {key}, found in {place}")),
            _ => add("no key is sent".to_owned()),
        }
        let sent: Vec<String> = self
            .wire
            .iter()
            .filter(|field| !matches!(field.name.as_str(), "kind" | "base_url" | "model"))
            .filter(|field| !field.value.is_empty())
            .map(|field| format!("{} {}", field.name, field.value))
            .collect();
        if !sent.is_empty() {
            add(format!("sends {}", sent.join(", ")));
        }
        if !self.problem.is_empty() {
            add(self.problem.clone());
        }
        let Some(test) = &self.test else { return lines };
        if !test.error.is_empty() {
            add(test.error.clone());
        }
        if !test.adaptations.is_empty() {
            add(format!("to be understood it {}", test.adaptations.join(", ")));
        }
        for probe in &test.probes {
            let mark = match probe.state {
                CheckState::Ok => "ok  ",
                CheckState::Warning => "no  ",
                CheckState::Failed => "FAIL",
            };
            add(format!("{mark} {:17} {}", probe.name, probe.words));
        }
        lines
    }
}

fn figure(test: &ModelTest) -> String {
    let mut parts = Vec::new();
    parts.extend(test.latency_ms.map(|latency| format!("{latency} ms")));
    if let (Some(read), Some(written)) = (test.prompt_tokens, test.completion_tokens) {
        parts.push(format!("{read} tokens read, {written} written"));
    }
    if test.attempts > 1 {
        parts.push(format!("{} attempts", test.attempts));
    }
    parts.join(", ")
}
