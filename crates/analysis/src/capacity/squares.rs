//! Least squares with three unknowns.

/// Smallest pivot relative to the largest number of its column; below it the levels do not determine the unknowns.
const PIVOT_MIN: f64 = 1e-12;

/// The numbers with which the rows come nearest to the values, each row with its weight; `None` where the rows do not decide
/// them. By the normal equations, with columns scaled to like size, and Gaussian elimination with pivots.
pub(super) fn solve(rows: &[[f64; 3]], values: &[f64], weights: &[f64]) -> Option<[f64; 3]> {
    let scale: [f64; 3] = std::array::from_fn(|column| {
        rows.iter().map(|row| row[column].abs()).fold(0.0, f64::max).max(f64::MIN_POSITIVE)
    });
    let mut system = [[0.0; 4]; 3];
    for ((row, value), weight) in rows.iter().zip(values).zip(weights) {
        let row: [f64; 3] = std::array::from_fn(|column| row[column] / scale[column]);
        for (line, of_line) in system.iter_mut().zip(row) {
            for (cell, of_column) in line.iter_mut().zip(row.into_iter().chain([*value])) {
                *cell += weight * of_line * of_column;
            }
        }
    }
    for column in 0..3 {
        let pivot =
            (column..3).max_by(|a, b| system[*a][column].abs().total_cmp(&system[*b][column].abs()))?;
        let size = system.iter().flatten().fold(0.0f64, |size, cell| size.max(cell.abs()));
        if system[pivot][column].abs() <= PIVOT_MIN * size {
            return None;
        }
        system.swap(column, pivot);
        let upper = system[column];
        for line in &mut system[column + 1..] {
            let factor = line[column] / upper[column];
            line.iter_mut().zip(upper).for_each(|(cell, above)| *cell -= factor * above);
        }
    }
    let mut found = [0.0; 3];
    for line in (0..3).rev() {
        let known: f64 = (line + 1..3).map(|column| system[line][column] * found[column]).sum();
        found[line] = (system[line][3] - known) / system[line][line];
    }
    let unscaled = std::array::from_fn(|column| found[column] / scale[column]);
    unscaled.iter().all(|value: &f64| value.is_finite()).then_some(unscaled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::testing::close;

    /// Expected numbers come of the normal equations in exact fractions.
    #[test]
    fn the_numbers_are_exact() {
        let rows = [1.0, 2.0, 3.0, 5.0, 8.0].map(|x: f64| [1.0, x, x * x]);
        let values = [2.1, 2.9, 4.2, 9.1, 21.0];
        let plain = solve(&rows, &values, &[1.0; 5]).expect("numbers");
        for (found, expect) in
            plain.iter().zip([1.9594405594405595, -0.18916083916083917, 0.3213286713286713])
        {
            close(*found, expect, 1e-9);
        }
        let weighted = solve(&rows, &values, &[1.0, 2.0, 3.0, 2.0, 1.0]).expect("numbers");
        for (found, expect) in
            weighted.iter().zip([1.9600501987032002, -0.19831625183016105, 0.32270445513490903])
        {
            close(*found, expect, 1e-9);
        }
    }

    #[test]
    fn what_is_not_decided_has_no_numbers() {
        let rows = [[1.0, 1.0, 1.0]; 4];
        assert_eq!(solve(&rows, &[1.0, 2.0, 3.0, 4.0], &[1.0; 4]), None);
        assert_eq!(solve(&[], &[], &[]), None);
    }
}
