//! Labels at the ends of lines, pushed apart so that none covers another. Pure.

use crate::order::{float_key, sorted};

/// Moves wanted heights apart by at least `gap`, within `low..=high`, in the order of the heights.
pub(crate) fn spread(wanted: &[f64], gap: f64, (low, high): (f64, f64)) -> Vec<f64> {
    let order = sorted((0..wanted.len()).collect(), |at| float_key(wanted[*at]));
    let mut placed = wanted.to_vec();
    let mut floor = low;
    for at in &order {
        placed[*at] = placed[*at].max(floor);
        floor = placed[*at] + gap;
    }
    // What was pushed out below is pushed back up.
    let mut ceiling = high;
    for at in order.iter().rev() {
        placed[*at] = placed[*at].min(ceiling);
        ceiling = placed[*at] - gap;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_labels_move_apart_and_far_ones_stay() {
        assert_eq!(spread(&[100.0, 102.0], 14.0, (0.0, 200.0)), [100.0, 114.0]);
        assert_eq!(spread(&[10.0, 150.0], 14.0, (0.0, 200.0)), [10.0, 150.0]);
    }

    #[test]
    fn labels_stay_within_the_plot() {
        assert_eq!(spread(&[199.0, 198.0], 14.0, (0.0, 200.0)), [200.0, 186.0]);
    }
}
