//! The live documents of a night, as they were read once. Writes nothing.

use super::NightPlan;
use crate::skills::{Resolution, resolve_skill};
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

/// The live bytes of a skill of its own, or why it is left alone.
pub(super) fn skill_of(plan: &NightPlan, name: &str) -> Result<Pinned, String> {
    let roots = &plan.skill_roots;
    let path = match resolve_skill(name, roots) {
        Resolution::Found(found) => found.path,
        other => return Err(other.to_string()),
    };
    let role = Role::Skill(SkillName::parse(name).map_err(|err| err.to_string())?);
    let managed = TargetSpec { role: Role::ManagedSkill, path: plan.config.managed_skill_path() };
    // The managed skill's place is taken: no proposal of another name may lead there.
    let specs = [managed, TargetSpec { role, path }];
    let mut pinned = check_targets(&specs, roots).map_err(|err| err.to_string())?;
    pinned.pop().ok_or_else(|| "the skill was not read".to_owned())
}
