//! Whether an answer has the form that is asked for, as it is typed. Pure.

use skillopt_domain::json::Json;

/// What there is to say about an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AnswerForm {
    /// There is no text.
    Empty,
    /// It can be read.
    Fine(&'static str),
    /// The night may have to ask once more.
    Doubtful(String),
}

impl AnswerForm {
    /// Looks at a text.
    pub(super) fn of(text: &str, wants_json: bool) -> Self {
        let text = text.trim();
        if text.is_empty() {
            return Self::Empty;
        }
        if !wants_json {
            return Self::Fine("Plain text, as the agent would answer.");
        }
        match Json::parse(without_fence(text)) {
            Ok(Json::Object(_)) => Self::Fine("A JSON object."),
            Ok(Json::List(_)) => Self::Fine("A JSON list."),
            Ok(_) => Self::Doubtful(
                "This is JSON, but neither an object nor a list. The prompt says which is wanted."
                    .to_owned(),
            ),
            Err(err) => Self::Doubtful(format!(
                "This is not JSON ({err}). The night looks for JSON in it; when it finds none it asks once more."
            )),
        }
    }

    pub(super) fn state(&self) -> Option<&'static str> {
        matches!(self, Self::Doubtful(_)).then_some("warning")
    }

    pub(super) fn words(&self, wants_json: bool) -> String {
        match self {
            Self::Empty if wants_json => "Expected: JSON, as the prompt describes it.".to_owned(),
            Self::Empty => "Expected: text, nothing but the answer.".to_owned(),
            Self::Fine(words) => (*words).to_owned(),
            Self::Doubtful(words) => words.clone(),
        }
    }
}

/// What stands in a fence of Markdown; the text itself when there is none.
fn without_fence(text: &str) -> &str {
    let Some(inner) = text.strip_prefix("```").and_then(|text| text.strip_suffix("```")) else {
        return text;
    };
    inner.split_once('\n').map_or(inner, |(_, lines)| lines).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_wanted_only_where_it_is_read() {
        let is_fine =
            |text, wants_json| matches!(AnswerForm::of(text, wants_json), AnswerForm::Fine(_));
        assert!(is_fine("[]", true) && is_fine("{\"edits\": []}", true));
        assert!(is_fine("```json\n{\"a\": 1}\n```", true), "a fence is no harm");
        assert!(is_fine("{\"a\"", false), "a task is answered in any words");
        assert!(!is_fine("7", true) && !is_fine("yes", true));
        assert_eq!(AnswerForm::of(" \n", true), AnswerForm::Empty);
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        let form = AnswerForm::of("{\"a\": 1,}", true);
        assert!(form.words(true).contains("column"), "{}", form.words(true));
        assert_eq!((form.state(), AnswerForm::Empty.state()), (Some("warning"), None));
    }
}
