//! An error in one line with all that caused it, for logs and the terminal. What browsers get is told elsewhere.

use std::error::Error;

/// The error and its causes. A cause whose words stand in the line already is not repeated.
pub(crate) fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let words = cause.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    enum Fault {
        #[error("cannot read the store")]
        Silent(#[source] std::io::Error),
        #[error("cannot read the store: {0}")]
        Telling(#[source] std::io::Error),
    }

    #[test]
    fn each_cause_is_told_once() {
        let full = || std::io::Error::other("the disk is full");
        for fault in [Fault::Silent(full()), Fault::Telling(full())] {
            assert_eq!(causes(&fault), "cannot read the store: the disk is full");
        }
    }
}
