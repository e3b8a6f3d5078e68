//! The live documents of a night, as they were read once. Writes nothing.

use super::NightPlan;
use crate::skills::{Resolution, resolve_qualified};
use crate::stage::{Pinned, Role, SkillName, TargetError, TargetSpec, check_targets};

/// The managed pair.
#[derive(Clone)]
pub(super) struct Documents {
    pub(super) skill: Pinned,
    pub(super) memory: Option<Pinned>,
}

impl Documents {
    /// Whatever an adoption would refuse is refused here.
    pub(super) fn read(plan: &NightPlan) -> Result<Self, TargetError> {
        let config = &plan.config;
        let mut specs =
            vec![TargetSpec { role: Role::ManagedSkill, path: config.managed_skill_path() }];
        if config.evolve_memory {
            specs.push(TargetSpec { role: Role::Memory, path: config.memory_path() });
        }
        let mut pinned = check_targets(&specs, &plan.skill_roots)?.into_iter();
        let skill = pinned.next().expect("one document is read for each that was named");
        Ok(Self { skill, memory: pinned.next() })
    }

    /// The skill's text. A skill that is not there yet begins with front matter, so that agents can find it.
    pub(super) fn skill_text(&self, plan: &NightPlan) -> String {
        if !self.skill.text.is_empty() {
            return self.skill.text.clone();
        }
        let name = &plan.config.managed_skill_name;
        format!(
            "---\nname: {name}\ndescription: What was learned from this user's own sessions; read it before any task.\n\
             ---\n# {name}\n\nPreferences and procedures that sessions have shown.\n"
        )
    }

    pub(super) fn memory_text(&self) -> &str {
        self.memory.as_ref().map_or("", |memory| &memory.text)
    }
}

/// The live bytes of skills of their own by the names that sessions have for them, or why one is left alone. A skill
/// that several names lead to is the first one's.
pub(super) fn skills_of(
    plan: &NightPlan,
    names: Vec<String>,
) -> Vec<(String, Result<Pinned, String>)> {
    let mut read: Vec<(String, Result<Pinned, String>)> = Vec::new();
    for name in names {
        let pinned = skill_of(plan, &name).and_then(|pinned| {
            let is_same = |other: &&(String, Result<Pinned, String>)| {
                other
                    .1
                    .as_ref()
                    .is_ok_and(|other| other.role == pinned.role || other.path == pinned.path)
            };
            match read.iter().find(is_same) {
                Some((other, _)) => Err(format!("it has the place of the skill {other:?}")),
                None => Ok(pinned),
            }
        });
        read.push((name, pinned));
    }
    read
}

/// A skill of a plugin is called `plugin:skill`; its folder, and its proposal, have the name of the skill.
fn skill_of(plan: &NightPlan, name: &str) -> Result<Pinned, String> {
    let roots = &plan.skill_roots;
    let path = match resolve_qualified(name, roots) {
        Resolution::Found(found) => found.path,
        other => return Err(other.to_string()),
    };
    let role = Role::Skill(SkillName::parse_qualified(name).map_err(|err| err.to_string())?);
    let managed = TargetSpec { role: Role::ManagedSkill, path: plan.config.managed_skill_path() };
    // The managed skill's place is taken: no proposal of another name may lead there.
    let specs = [managed, TargetSpec { role, path }];
    let mut pinned = check_targets(&specs, roots).map_err(|err| err.to_string())?;
    pinned.pop().ok_or_else(|| "the skill was not read".to_owned())
}
