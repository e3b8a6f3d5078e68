use super::*;
use UpdateMode::{FullRewriteMinibatch, Patch, RewriteFromSuggestions};

const MODES: [UpdateMode; 3] = [Patch, RewriteFromSuggestions, FullRewriteMinibatch];

fn all_vars() -> Vec<PromptVars> {
    let mut all = Vec::new();
    for mode in MODES {
        for (max_items, skill_aware) in [(Some(3), false), (None, true)] {
            let notes_from_success = skill_aware;
            all.push(PromptVars { mode, max_items, skill_aware, notes_from_success, n_tasks: 7 });
        }
    }
    all
}

fn ours(prompt: Prompt, vars: PromptVars) -> String {
    PromptSet::default().system_message(prompt, vars).expect("ours render")
}

fn user(name: &str, text: &str) -> UserPrompt {
    UserPrompt { name: name.to_owned(), file: format!("p/{name}.md"), text: text.to_owned() }
}

#[test]
fn every_prompt_renders_and_states_its_contract() {
    for prompt in Prompt::ALL {
        for vars in all_vars() {
            let text = ours(prompt, vars);
            assert!(text.contains("JSON"), "{prompt:?}");
            for odd in ["{{", "{%", "\n\n\n", "none"] {
                let allowed = odd == "none" && text.contains("none is allowed");
                assert!(allowed || !text.contains(odd), "{prompt:?}: {odd} in {text}");
            }
        }
    }
    let limited = PromptVars { max_items: Some(3), ..PromptVars::default() };
    assert!(ours(Prompt::AnalystFailure, limited).contains("L=3"));
}

/// A recorded reply is found by the messages that led to it: a change of one letter asks everything anew, so it
/// must be meant. Then change this hash.
#[test]
fn our_own_prompts_say_what_they_said_when_replies_were_recorded() {
    let mut all = String::new();
    for prompt in Prompt::ALL {
        for vars in all_vars() {
            all.push_str(&ours(prompt, vars));
        }
    }
    assert_eq!(
        Sha256Hex::of(all).as_str(),
        "2b25b77233398de607310dc8f3821e2d153a5880ae6d54fd5791c90262b5bcd7"
    );
}

#[test]
fn the_list_that_a_mode_asks_for_is_named_in_every_prompt_that_must_return_it() {
    for vars in all_vars() {
        for prompt in [
            Prompt::AnalystFailure,
            Prompt::AnalystSuccess,
            Prompt::MergeFailure,
            Prompt::MergeSuccess,
            Prompt::MergeFinal,
        ] {
            let text = ours(prompt, vars);
            assert!(text.contains(&format!("\"{}\"", vars.mode.items_key())), "{text}");
        }
    }
}

#[test]
fn the_number_of_compared_tasks_is_the_real_one() {
    let vars = PromptVars { n_tasks: 7, ..PromptVars::default() };
    for prompt in [Prompt::SlowUpdate, Prompt::MetaSkill] {
        assert!(ours(prompt, vars).contains("7 train tasks"));
    }
}

#[test]
fn all_that_is_in_the_table_passes_its_own_check() {
    let mine = |spec: &PromptSpec| user(spec.name, &format!("{{# mine #}}{}", spec.text));
    let texts: Vec<UserPrompt> = PROMPTS.iter().map(mine).collect();
    let set = PromptSet::new(&[], &texts, &MODES).expect("sound");
    assert_eq!(set.own().len(), PROMPTS.len());
    for prompt in Prompt::ALL {
        assert!(find_prompt(prompt.name()).is_some_and(|spec| !spec.reply.is_empty()));
        for vars in all_vars() {
            assert_eq!(set.system_message(prompt, vars).expect("renders"), ours(prompt, vars));
        }
    }
    let placeholders = super::super::PLACEHOLDERS;
    for spec in PROMPTS {
        for name in spec.placeholders.iter().chain(spec.required) {
            assert!(placeholders.iter().any(|(known, _)| known == name), "{name} has no meaning");
        }
    }
}

const OF_BENCHMARK: &[BenchmarkPrompt] = &[
    BenchmarkPrompt {
        name: "ranking",
        purpose: "p",
        text: "Best {{ max_items }}. JSON \"selected_indices\" B",
    },
    BenchmarkPrompt { name: "lr_control", purpose: "p", text: "JSON \"learning_rate\" B" },
    BenchmarkPrompt { name: "target", purpose: "Puts a task.", text: "Answer." },
];

#[test]
fn the_user_wins_over_the_benchmark_and_that_over_the_program() {
    let own = [user("ranking", "Mine {{ max_items }}: JSON \"selected_indices\"")];
    let set = PromptSet::new(OF_BENCHMARK, &own, &MODES).expect("sound");
    let vars = PromptVars { max_items: Some(2), ..PromptVars::default() };
    let text = |prompt| set.system_message(prompt, vars).expect("renders");
    assert_eq!(text(Prompt::Ranking), "Mine 2: JSON \"selected_indices\"\n\n[skillopt ranking/1]");
    assert_eq!(text(Prompt::LrControl), "JSON \"learning_rate\" B\n\n[skillopt lr_control/1]");
    assert_eq!(text(Prompt::Rewrite), ours(Prompt::Rewrite, vars));
    assert_eq!(set.text("target"), Some("Answer."));
}

#[test]
fn a_copy_is_nothing_of_ones_own() {
    let copies: Vec<UserPrompt> = PROMPTS.iter().map(|spec| user(spec.name, spec.text)).collect();
    let set = PromptSet::new(&[], &copies, &MODES).expect("sound");
    assert_eq!((set.own(), &set), (Vec::new(), &PromptSet::default()));
}

#[test]
fn a_part_of_ones_own_is_in_every_prompt_that_has_it() {
    let rules = user("parts/rules", "At most {{ max_items }} {{ item }}s, my rules.");
    let set = PromptSet::new(&[], &[rules], &MODES).expect("sound");
    let vars = PromptVars { max_items: Some(5), ..PromptVars::default() };
    for prompt in [Prompt::AnalystFailure, Prompt::AnalystSuccess] {
        let text = set.system_message(prompt, vars).expect("renders");
        assert!(text.contains("\nAt most 5 edits, my rules.\n"), "{text}");
        assert!(!text.contains("Rules for edits"), "{text}");
    }
}

#[test]
fn what_cannot_be_rendered_with_some_value_is_an_error_and_no_panic() {
    let odd =
        user("ranking", "{{ max_items }} {{ 6 // (max_items - 2) }} JSON \"selected_indices\"");
    let set = PromptSet::new(&[], &[odd], &[Patch]);
    // Without a limit it cannot be rendered, so it is refused; so is a text without an end.
    let problems = set.expect_err("refused");
    assert!(problems[0].message.contains("line 1"), "{problems:?}");
    let endless =
        "{% for a in 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' %}"
            .repeat(4);
    let text = format!(
        "{{{{ n_tasks }}}} JSON \"slow_update_content\" {endless}x{}",
        "{% endfor %}".repeat(4)
    );
    let problems =
        PromptSet::new(&[], &[user("slow_update", &text)], &[Patch]).expect_err("refused");
    assert!(problems[0].message.contains("fuel"), "{problems:?}");
}
