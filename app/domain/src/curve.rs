//! Downsampling of curves that never loses an extreme.

/// Picks at most `max_points` indices of `values` so that every bucket keeps its first, lowest, highest
/// and last point. Missing values (`None`) are never picked. Indices rise.
///
/// With fewer values than `max_points` all present ones are returned. `max_points` below 4 counts as 4.
#[must_use]
pub fn keep_extremes(values: &[Option<f64>], max_points: usize) -> Vec<usize> {
    let present = |at: &usize| values[*at].is_some_and(f64::is_finite);
    if values.len() <= max_points {
        return (0..values.len()).filter(present).collect();
    }
    let buckets = (max_points / 4).max(1);
    let mut kept = Vec::with_capacity(max_points);
    for bucket in 0..buckets {
        let range = bucket * values.len() / buckets..(bucket + 1) * values.len() / buckets;
        let mut picks: Vec<usize> = bucket_picks(values, range.filter(present));
        picks.sort_unstable();
        picks.dedup();
        kept.append(&mut picks);
    }
    kept
}

fn bucket_picks(values: &[Option<f64>], indices: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut picks: Option<[usize; 4]> = None;
    for at in indices {
        let Some([_, low, high, last]) = picks.as_mut() else {
            picks = Some([at; 4]);
            continue;
        };
        let value = values[at].unwrap_or_default();
        if value < values[*low].unwrap_or_default() {
            *low = at;
        }
        if value > values[*high].unwrap_or_default() {
            *high = at;
        }
        *last = at;
    }
    picks.map(Vec::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn c77_one_spike_in_a_million_points_survives() {
        let mut values = vec![Some(0.5); 1_000_000];
        values[765_432] = Some(0.99);
        values[123_456] = Some(0.01);
        let kept = keep_extremes(&values, 2000);
        assert!(kept.len() <= 2000, "{}", kept.len());
        assert!(kept.contains(&765_432) && kept.contains(&123_456));
    }

    #[test]
    fn missing_points_stay_missing() {
        assert_eq!(keep_extremes(&[None, Some(1.0), None], 10), [1]);
    }

    proptest! {
        #[test]
        fn global_extremes_are_always_kept(
            values in prop::collection::vec(prop::option::of(0.0f64..1.0), 1..500),
            max in 4usize..100,
        ) {
            let kept = keep_extremes(&values, max);
            let all: Vec<f64> = values.iter().flatten().copied().collect();
            let top = all.iter().copied().fold(f64::MIN, f64::max);
            if !all.is_empty() {
                prop_assert!(kept.iter().any(|at| values[*at] == Some(top)));
            }
            prop_assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
