//! Call stacks summed up to a tree, of which the widest frames are kept.

use std::collections::{BTreeMap, HashMap};

use model::Datum;

use crate::lines::harmless;

/// Maximum number of frames in the tree; deeper frames beyond it count for their last known caller.
const FRAMES_MAX: usize = 50_000;
/// Maximum number of frames in the evidence: the widest ones.
const TOLD_MAX: usize = 500;
/// Maximum depth; deeper calls count for the last frame within it.
const DEPTH_MAX: usize = 200;
/// Maximum length of a function's name.
const NAME_CHARS_MAX: usize = 80;
/// Maximum value of a stack: above all values of real profiles, and low enough that their sum is finite.
const VALUE_MAX: f64 = 1e24;

/// A tree of calls. The first frame is the root.
#[derive(Debug)]
pub(crate) struct Flame {
    frames: Vec<Frame>,
    /// Child frames by parent and name.
    calls: HashMap<(usize, String), usize>,
}

#[derive(Debug, Default)]
struct Frame {
    name: String,
    value: f64,
    children: Vec<usize>,
}

impl Flame {
    /// Returns an empty tree.
    pub(crate) fn new() -> Flame {
        Flame { frames: vec![Frame::default()], calls: HashMap::new() }
    }

    /// Adds a stack, outermost caller first, and its value. Values that are not positive, or above [`VALUE_MAX`], are ignored.
    pub(crate) fn add<'a>(&mut self, stack: impl IntoIterator<Item = &'a str>, value: f64) {
        if value.is_nan() || value <= 0.0 || value > VALUE_MAX {
            return;
        }
        let mut at = 0;
        self.frames[at].value += value;
        for name in stack.into_iter().take(DEPTH_MAX) {
            let Some(callee) = self.callee(at, name) else { return };
            at = callee;
            self.frames[at].value += value;
        }
    }

    /// Returns the sum of all stacks.
    pub(crate) fn total(&self) -> f64 {
        self.frames[0].value
    }

    /// Checks the invariants of the result.
    #[cfg(test)]
    pub(crate) fn assert_bounded(&self) {
        assert!(self.total().is_finite() && self.total() >= 0.0, "{}", self.total());
        let lines = self.lines();
        let Datum::Text(text) = &lines["frames"] else { panic!("a text: {lines:?}") };
        assert!(text.lines().count() <= TOLD_MAX);
        for line in text.lines() {
            let mut words = line.splitn(3, ' ');
            let mut number = || words.next().and_then(|word| word.parse::<f64>().ok()).expect("a number");
            let (depth, value) = (number(), number());
            assert!(depth < DEPTH_MAX as f64 && value <= self.total() * (1.0 + 1e-9), "{line:?}");
            let name = words.next().expect("a name");
            assert!(
                name.chars().count() <= NAME_CHARS_MAX && !name.chars().any(char::is_control),
                "{line:?}"
            );
        }
    }

    /// Returns a line for each of the widest frames, callees below their callers, with depth, inclusive value and name; and the
    /// number of further frames. No frame is wider than its caller, so the callers of each frame are included.
    pub(crate) fn lines(&self) -> BTreeMap<String, Datum> {
        let mut widest: Vec<usize> = (1..self.frames.len()).collect();
        widest.sort_by(|a, b| self.frames[*b].value.total_cmp(&self.frames[*a].value).then(a.cmp(b)));
        let left_out = widest.len().saturating_sub(TOLD_MAX);
        widest.truncate(TOLD_MAX);
        let mut is_told = vec![false; self.frames.len()];
        widest.into_iter().for_each(|frame| is_told[frame] = true);
        let mut text = String::new();
        let mut next: Vec<(usize, usize)> = self.frames[0].children.iter().rev().map(|at| (*at, 0)).collect();
        while let Some((at, depth)) = next.pop() {
            if !is_told[at] {
                continue;
            }
            let frame = &self.frames[at];
            text.push_str(&format!("{depth} {} {}\n", frame.value, frame.name));
            next.extend(frame.children.iter().rev().map(|child| (*child, depth + 1)));
        }
        BTreeMap::from([
            ("total".to_owned(), self.total().into()),
            ("frames".to_owned(), text.into()),
            ("frames_left_out".to_owned(), (left_out as f64).into()),
        ])
    }

    fn callee(&mut self, caller: usize, name: &str) -> Option<usize> {
        let name = harmless(name, NAME_CHARS_MAX);
        if let Some(known) = self.calls.get(&(caller, name.clone())) {
            return Some(*known);
        }
        if self.frames.len() >= FRAMES_MAX {
            return None;
        }
        let callee = self.frames.len();
        self.frames.push(Frame { name: name.clone(), ..Frame::default() });
        self.frames[caller].children.push(callee);
        self.calls.insert((caller, name), callee);
        Some(callee)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(flame: &Flame) -> Vec<String> {
        let lines = flame.lines();
        let Datum::Text(text) = &lines["frames"] else { panic!("a text: {lines:?}") };
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn stacks_become_a_tree() {
        let mut flame = Flame::new();
        flame.add(["main", "serve", "query"], 30.0);
        flame.add(["main", "serve"], 5.0);
        flame.add(["main", "gc\nand\u{1b}[2J more"], 10.0);
        flame.add(["idle"], 0.0);
        flame.add(["idle"], f64::NAN);
        assert_eq!(lines(&flame), ["0 45 main", "1 35 serve", "2 30 query", "1 10 gc and [2J more"]);
        assert_eq!(flame.total(), 45.0);
    }

    #[test]
    fn the_widest_frames_are_told_with_their_callers() {
        let mut flame = Flame::new();
        let names: Vec<String> = (0..TOLD_MAX + 10).map(|number| format!("f{number}")).collect();
        for (name, width) in names.iter().zip(1..) {
            flame.add(["main", name.as_str()], f64::from(width));
        }
        let lines = lines(&flame);
        assert_eq!((lines.len(), flame.lines()["frames_left_out"].clone()), (TOLD_MAX, Datum::from(11.0)));
        assert!(lines[0].ends_with(" main") && !lines.iter().any(|line| line.ends_with(" f0")), "{lines:?}");
        let deep: Vec<String> = (0..DEPTH_MAX * 2).map(|depth| format!("d{depth}")).collect();
        let mut flame = Flame::new();
        flame.add(deep.iter().map(String::as_str), 1.0);
        assert_eq!(flame.frames.len(), DEPTH_MAX + 1);
    }
}
