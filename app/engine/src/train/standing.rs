//! Where the run stands: the skill that the next step starts from, and the best so far.

use skillopt_domain::skill::SkillDoc;

/// Current and best skill with where they came from.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) current: SkillDoc,
    pub(crate) current_origin: String,
    /// Accepted versions so far; the initial skill is version 0.
    pub(crate) version: u32,
    pub(crate) best: SkillDoc,
    pub(crate) best_origin: String,
    /// The step that made the best skill; 0 for the initial skill.
    pub(crate) best_step: u32,
    pub(crate) best_version: u32,
}

impl Standing {
    /// Before the first step.
    pub(crate) fn initial(skill: &SkillDoc) -> Self {
        Self {
            current: skill.clone(),
            current_origin: "initial_skill".to_owned(),
            version: 0,
            best: skill.clone(),
            best_origin: "initial_skill".to_owned(),
            best_step: 0,
            best_version: 0,
        }
    }

    /// A candidate becomes the current skill.
    pub(crate) fn accept(&mut self, candidate: SkillDoc, origin: String) {
        self.current = candidate;
        self.current_origin = origin;
        self.version += 1;
    }

    /// The current skill becomes the best.
    pub(crate) fn crown(&mut self, step: u32) {
        self.best = self.current.clone();
        self.best_origin.clone_from(&self.current_origin);
        self.best_step = step;
        self.best_version = self.version;
    }
}
