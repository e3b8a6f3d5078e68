//! Order of lists. One sort for all of them: it moves places, not rows. Pure.

/// The rows by rising key; rows of one key keep their order.
pub(crate) fn sorted<T>(rows: Vec<T>, key: impl Fn(&T) -> u64) -> Vec<T> {
    let order = order_of(&rows.iter().map(key).collect::<Vec<_>>());
    let mut rows: Vec<Option<T>> = rows.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| rows[at].take()).collect()
}

/// Places of the keys from the smallest on.
fn order_of(keys: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_unstable_by_key(|at| (keys[*at], *at));
    order
}

/// A place in a list as a key.
pub(crate) fn as_key(at: usize) -> u64 {
    u64::try_from(at).unwrap_or(u64::MAX)
}

/// A number as a key: smaller numbers have smaller keys. Not a number comes last.
pub(crate) fn float_key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_key_keep_their_order() {
        assert_eq!(
            sorted(vec!["bb", "a", "cc", ""], |word| as_key(word.len())),
            ["", "a", "bb", "cc"]
        );
    }

    #[test]
    fn keys_of_numbers_rise_with_them() {
        let numbers = [f64::NEG_INFINITY, -2.5, -0.5, 0.0, 0.25, 7.0, f64::INFINITY, f64::NAN];
        assert!(numbers.map(float_key).is_sorted());
    }
}
