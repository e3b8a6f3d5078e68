//! How good the simulated models are. Numbers only; change them here and nowhere else.

/// The target gives the right form when the skill holds the rule for the kind of question.
pub(super) const RIGHT_WITH_RULE: f64 = 0.92;
/// The target gives the right form without any rule.
pub(super) const RIGHT_WITHOUT_RULE: f64 = 0.25;
/// The target gives the right form when the skill only asks for short answers.
pub(super) const RIGHT_WHEN_BRIEF: f64 = 0.40;
/// The target answers a question right that has no tempting form.
pub(super) const RIGHT_WHEN_EASY: f64 = 0.92;
/// The target gives the short form for a question whose kind it does not know.
pub(super) const SHORT_WHEN_UNKNOWN_KIND: f64 = 0.50;
/// The same when the skill asks for short answers.
pub(super) const SHORT_WHEN_UNKNOWN_KIND_AND_BRIEF: f64 = 0.80;
/// Share of tasks whose luck is drawn anew when the skill's rules change, in each sample.
pub(super) const NOISE: f64 = 0.08;

/// A skill longer than this distracts the target.
pub(super) const LONG_SKILL_TOKENS: u32 = 1500;
/// What each further thousand tokens costs.
pub(super) const LOSS_PER_1000_TOKENS: f64 = 0.05;
/// The most that length can cost.
pub(super) const LOSS_BY_LENGTH_MAX: f64 = 0.25;

/// A rule to say "unknown" is followed.
pub(super) const FOLLOWS_UNKNOWN: f64 = 0.60;
/// A rule to answer in full sentences is followed.
pub(super) const FOLLOWS_SENTENCE: f64 = 0.75;
/// A rule to add the source is followed.
pub(super) const FOLLOWS_SOURCE: f64 = 0.70;
/// A rule to write numbers in words is followed.
pub(super) const FOLLOWS_WORDS: f64 = 0.85;
/// A rule to trust the oldest edition is followed.
pub(super) const FOLLOWS_OLDEST: f64 = 0.80;

/// The optimizer has a good idea in the first step.
pub(super) const GOOD_AT_FIRST: f64 = 0.70;
/// The optimizer has a good idea after a rejected step.
pub(super) const GOOD_AFTER_REJECT: f64 = 0.85;
/// The optimizer has a good idea after an accepted step.
pub(super) const GOOD_AFTER_ACCEPT: f64 = 0.40;
/// A good call proposes a second rule.
pub(super) const SECOND_RULE: f64 = 0.25;
/// A good call adds a useless edit.
pub(super) const USELESS_BESIDE_GOOD: f64 = 0.20;
/// A bad step is about a harmful rule, not only about useless ones.
pub(super) const HARMFUL_WHEN_BAD: f64 = 0.70;
/// A bad call adds a useless edit to the harmful one.
pub(super) const USELESS_BESIDE_BAD: f64 = 0.50;
/// A reader of successes proposes a useless edit.
pub(super) const USELESS_FROM_SUCCESS: f64 = 0.25;
/// Guidance between epochs is about what fails, not useless.
pub(super) const GUIDANCE_HELPS: f64 = 0.75;
/// A rule takes the place of the line that says that there are no rules yet.
pub(super) const REPLACES_PLACEHOLDER: f64 = 0.60;
/// A rule goes below an existing one instead of to the end.
pub(super) const INSERTS_AFTER: f64 = 0.25;
/// A call adds an edit whose anchor does not occur.
pub(super) const ANCHOR_MISSING: f64 = 0.08;
/// A call adds an edit whose anchor occurs more than once.
pub(super) const ANCHOR_AMBIGUOUS: f64 = 0.08;

/// Share by which the simulated time to answer varies up and down.
pub(super) const LATENCY_JITTER: f64 = 0.40;
/// Most tokens of a reply of the target, whatever is allowed.
pub(super) const TARGET_REPLY_TOKENS: u32 = 400;
/// Most tokens of a reply of the optimizer, whatever is allowed.
pub(super) const OPTIMIZER_REPLY_TOKENS: u32 = 16_384;
