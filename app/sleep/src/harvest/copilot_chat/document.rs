//! A document that a log of operations builds. Knows nothing of what is in it.

use serde_json::{Map, Value};

/// The document so far.
#[derive(Debug, Default)]
pub(super) struct Document(Value);

impl Document {
    /// Applies one operation: `kind` 0 is the whole state `v`; 1 sets `v` at the path `k`; 2 cuts the list at `k` to `i`
    /// entries and adds `v`; 3 deletes what is at `k`. None when it cannot be applied; then nothing changes.
    pub(super) fn apply(&mut self, mut operation: Value) -> Option<()> {
        let kind = operation.get("kind")?.as_u64()?;
        let value = operation.get_mut("v").map(Value::take);
        if kind == 0 {
            self.0 = value.filter(Value::is_object)?;
            return Some(());
        }
        let path = operation.get("k")?.as_array()?;
        let (last, parents) = path.split_last()?;
        match kind {
            1 => set(self.at(parents)?, last, value?),
            2 => {
                let from = operation.get("i").and_then(Value::as_u64);
                splice(self.at(path)?, from, value)
            }
            3 => delete(self.at(parents)?, last),
            _ => None,
        }
    }

    /// What was built.
    pub(super) fn into_state(self) -> Value {
        self.0
    }

    fn at(&mut self, path: &[Value]) -> Option<&mut Value> {
        path.iter().try_fold(&mut self.0, |value, step| match (value, step) {
            (Value::Object(entries), Value::String(name)) => entries.get_mut(name),
            (Value::Array(items), step) => items.get_mut(index(step)?),
            _ => None,
        })
    }
}

fn index(step: &Value) -> Option<usize> {
    usize::try_from(step.as_u64()?).ok()
}

fn set(parent: &mut Value, step: &Value, value: Value) -> Option<()> {
    match (parent, step) {
        (Value::Object(entries), Value::String(name)) => {
            entries.insert(name.clone(), value);
            Some(())
        }
        (Value::Array(items), step) => {
            let at = index(step)?;
            if at == items.len() {
                items.push(value);
            } else {
                *items.get_mut(at)? = value;
            }
            Some(())
        }
        (parent @ Value::Null, Value::String(name)) => {
            *parent = Value::Object(Map::from_iter([(name.clone(), value)]));
            Some(())
        }
        _ => None,
    }
}

fn splice(list: &mut Value, from: Option<u64>, added: Option<Value>) -> Option<()> {
    let items = list.as_array_mut()?;
    if let Some(from) = from {
        items.truncate(usize::try_from(from).ok()?);
    }
    match added {
        Some(Value::Array(added)) => items.extend(added),
        Some(_) => return None,
        None => {}
    }
    Some(())
}

fn delete(parent: &mut Value, step: &Value) -> Option<()> {
    match (parent, step) {
        (Value::Object(entries), Value::String(name)) => entries.shift_remove(name).map(drop),
        (Value::Array(items), step) => {
            let at = index(step).filter(|at| *at < items.len())?;
            items.remove(at);
            Some(())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Document;
    use serde_json::json;

    #[test]
    fn operations_build_the_document() {
        let mut document = Document::default();
        for operation in [
            json!({"kind": 0, "v": {"list": [1, 2, 3], "name": "a", "old": 1}}),
            json!({"kind": 1, "k": ["name"], "v": "b"}),
            json!({"kind": 1, "k": ["list", 0], "v": {"deep": []}}),
            json!({"kind": 2, "k": ["list"], "v": [9], "i": 2}),
            json!({"kind": 2, "k": ["list", 0, "deep"], "v": ["x"]}),
            json!({"kind": 3, "k": ["old"]}),
        ] {
            assert!(document.apply(operation.clone()).is_some(), "{operation}");
        }
        assert_eq!(document.into_state(), json!({"list": [{"deep": ["x"]}, 2, 9], "name": "b"}));
    }

    #[test]
    fn an_operation_that_fits_nowhere_changes_nothing() {
        let mut document = Document::default();
        document.apply(json!({"kind": 0, "v": {"a": 1}}));
        for operation in [
            json!({"kind": 2, "k": ["a"], "v": [1]}),
            json!({"kind": 1, "k": ["b", "c"], "v": 1}),
            json!({"kind": 3, "k": ["b"]}),
            json!({"kind": 9, "k": ["a"]}),
            json!({"kind": 1, "k": []}),
            json!({"v": 1}),
        ] {
            assert_eq!(document.apply(operation.clone()), None, "{operation}");
        }
        assert_eq!(document.into_state(), json!({"a": 1}));
    }
}
