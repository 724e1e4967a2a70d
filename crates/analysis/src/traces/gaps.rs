//! Which parts of a trace's time are drawn shorter than they were, so that what was done beside a long wait can be seen.

use super::path::{Piece, PieceKind};

/// A wait shorter than this share of the whole is drawn as long as it was.
const SHARE_MIN: f64 = 0.03;

/// Further waits are drawn as long as they were.
const COMPRESSED_MAX: usize = 24;

/// A part of a trace's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// When it begins.
    pub start_ns: i64,
    /// When it ends.
    pub end_ns: i64,
    /// The span that waits all the time, where that is so; the drawing may shorten it.
    pub waits: Option<usize>,
}

/// The time of a path in parts, without holes: each long wait is one, and so is what is between two of them.
pub fn stretches(path: &[Piece]) -> Vec<Stretch> {
    let (Some(first), Some(last)) = (path.first(), path.last()) else { return Vec::new() };
    let least_ns = last.end_ns.abs_diff(first.start_ns) as f64 * SHARE_MIN;
    let is_long = |piece: &&Piece| piece.kind != PieceKind::Work && piece.length_ns() as f64 >= least_ns;
    let mut waits: Vec<&Piece> = path.iter().filter(is_long).collect();
    waits.sort_by_key(|piece| std::cmp::Reverse(piece.length_ns()));
    waits.truncate(COMPRESSED_MAX);
    waits.sort_by_key(|piece| piece.start_ns);
    let (mut stretches, mut now_ns) = (Vec::new(), first.start_ns);
    let mut add = |start_ns: i64, end_ns: i64, waits| {
        if start_ns < end_ns {
            stretches.push(Stretch { start_ns, end_ns, waits });
        }
    };
    for wait in waits {
        add(now_ns, wait.start_ns, None);
        add(wait.start_ns, wait.end_ns, Some(wait.span));
        now_ns = wait.end_ns;
    }
    add(now_ns, last.end_ns, None);
    stretches
}

#[cfg(test)]
mod tests {
    use super::super::path::critical_path;
    use super::super::testing::{scan, span, task, trace};
    use super::super::tree::Tree;
    use super::*;

    #[track_caller]
    fn check(trace: &model::Trace, expect: &str) {
        let tree = Tree::new(trace);
        let text = |stretch: Stretch| {
            let ms = (stretch.start_ns / 1_000_000, stretch.end_ns / 1_000_000);
            format!("{}-{}{}", ms.0, ms.1, if stretch.waits.is_some() { " waits" } else { "" })
        };
        let text: Vec<_> = stretches(&critical_path(&tree)).into_iter().map(text).collect();
        assert_eq!(text.join(", "), expect);
    }

    #[test]
    fn long_waits_are_parts_of_their_own() {
        let expect = "0-100, 100-18100 waits, 18100-22100, 22100-31100 waits, 31100-31150, 31150-43150 waits, \
                      43150-49150, 49150-55150 waits, 55150-56000";
        check(&scan(), expect);
        let ms = 1_000_000;
        check(&trace(vec![span(1, 0, 0, 99 * ms), task(2, 1, 100 * ms as i64, 10 * ms, "q")]), "0-110");
        check(&trace(vec![]), "");
    }
}
