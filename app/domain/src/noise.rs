//! Is a difference larger than chance? The exact two-sided sign test over tasks that changed. Pure.

/// The probability of a split at least as uneven as `fixed` against `broke` when each changed task is as
/// likely to go up as down. 1 when nothing changed.
#[must_use]
pub fn sign_test(fixed: u32, broke: u32) -> f64 {
    let n = fixed + broke;
    let fewer = fixed.min(broke);
    if n == 0 {
        return 1.0;
    }
    // In logarithms, so that a thousand tasks do not underflow.
    let mut log_term = -f64::from(n) * std::f64::consts::LN_2;
    let mut tail = log_term.exp();
    for k in 1..=fewer {
        log_term += f64::from(n - k + 1).ln() - f64::from(k).ln();
        tail += log_term.exp();
    }
    (2.0 * tail).min(1.0)
}

/// Below this the split is called larger than noise.
pub const ALPHA: f64 = 0.05;

/// A p value as it is written: two digits, or "< 0.001".
#[must_use]
pub fn p_words(p: f64) -> String {
    match p {
        p if p < 0.001 => "p < 0.001".to_owned(),
        p if p < 0.1 => format!("p = {p:.3}"),
        p => format!("p = {p:.2}"),
    }
}

/// The 95 % Wilson interval of a share that was seen over `n` tasks.
#[must_use]
pub fn wilson(share: f64, n: u32) -> Option<(f64, f64)> {
    const Z: f64 = 1.959_964;
    if n == 0 || !(0.0..=1.0).contains(&share) {
        return None;
    }
    let n = f64::from(n);
    let spread = Z * Z / n;
    let middle = (share + spread / 2.0) / (1.0 + spread);
    let half = Z * (share * (1.0 - share) / n + spread / (4.0 * n)).sqrt() / (1.0 + spread);
    Some(((middle - half).max(0.0), (middle + half).min(1.0)))
}

/// Holm's correction: each p value as it counts when all of them were looked at, in the order given. With one
/// value nothing changes.
#[must_use]
pub fn holm(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|left, right| values[*left].total_cmp(&values[*right]));
    let mut adjusted = vec![1.0; values.len()];
    let mut floor = 0.0_f64;
    for (rank, at) in order.into_iter().enumerate() {
        let left = u32::try_from(values.len() - rank).unwrap_or(u32::MAX);
        floor = floor.max((values[at] * f64::from(left)).min(1.0));
        adjusted[at] = floor;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_equals_known_values() {
        assert!((sign_test(4, 2) - 0.6875).abs() < 1e-9);
        assert!((sign_test(14, 3) - 0.012_725_8).abs() < 1e-6);
        assert!((sign_test(5, 0) - 0.0625).abs() < 1e-9);
        assert!((sign_test(0, 5) - 0.0625).abs() < 1e-9);
    }

    #[test]
    fn an_even_split_or_none_proves_nothing() {
        assert!((sign_test(0, 0) - 1.0).abs() < 1e-9);
        assert!((sign_test(3, 3) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn thousands_of_tasks_do_not_underflow() {
        let p = sign_test(1100, 900);
        assert!(p > 0.0 && p < 1e-4, "{p}");
    }

    #[test]
    fn the_interval_equals_a_known_value_and_stays_in_range() {
        let (low, high) = wilson(0.675, 40).expect("forty tasks");
        assert!((low - 0.520).abs() < 1e-3 && (high - 0.799).abs() < 1e-3, "{low} {high}");
        assert_eq!(wilson(1.0, 0), None);
        assert!(wilson(1.0, 5).is_some_and(|(low, high)| low < 0.6 && high <= 1.0));
    }

    #[test]
    fn many_looks_make_each_one_count_less() {
        let close = |got: Vec<f64>, want: &[f64]| {
            assert_eq!(got.len(), want.len());
            assert!(got.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-12), "{got:?}");
        };
        close(holm(&[0.01]), &[0.01]);
        close(holm(&[0.04, 0.01, 0.03]), &[0.06, 0.03, 0.06]);
        close(holm(&[0.9, 0.6]), &[1.0, 1.0]);
        close(holm(&[]), &[]);
    }

    #[test]
    fn p_is_written_short() {
        assert_eq!(p_words(0.0004), "p < 0.001");
        assert_eq!(p_words(0.0127), "p = 0.013");
        assert_eq!(p_words(0.6875), "p = 0.69");
    }
}
