//! Lines that could not be read: counted, the first ones with their place.

/// Maximum number of flaws that are shown with their line; all are counted.
pub const FLAWS_SHOWN_MAX: usize = 3;

/// Flaws in the lines of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flaws {
    count: u64,
    first: Vec<(u64, String)>,
}

impl Flaws {
    /// Counts a line, from 1, and what is wrong with it.
    pub fn add(&mut self, line: u64, why: impl Into<String>) {
        self.count += 1;
        if self.first.len() < FLAWS_SHOWN_MAX {
            self.first.push((line, why.into()));
        }
    }

    /// How many lines were left out.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first one as a text.
    pub fn first(&self) -> Option<String> {
        self.first.first().map(|(line, why)| format!("line {line}: {why}"))
    }

    /// `2 lines could not be read and are not in the run: line 7: it is no JSON; …`; `None` where there was none.
    pub fn sentence(&self) -> Option<String> {
        let shown: Vec<String> = self.first.iter().map(|(line, why)| format!("line {line}: {why}")).collect();
        let more = self.count - self.first.len() as u64;
        let lines = if self.count == 1 { "line" } else { "lines" };
        let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
        (self.count > 0).then(|| {
            format!(
                "{} {lines} could not be read: what they said is missing here ({}{rest})",
                self.count,
                shown.join("; ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_counted_and_the_first_are_named() {
        let mut flaws = Flaws::default();
        assert_eq!((flaws.sentence(), flaws.first()), (None, None));
        flaws.add(7, "it is no JSON");
        assert_eq!(
            flaws.sentence().as_deref(),
            Some("1 line could not be read: what they said is missing here (line 7: it is no JSON)")
        );
        (8..12).for_each(|line| flaws.add(line, "cut"));
        let text = flaws.sentence().expect("there are flaws");
        assert!(text.starts_with("5 lines ") && text.ends_with("line 9: cut; and 2 more)"), "{text}");
    }
}
