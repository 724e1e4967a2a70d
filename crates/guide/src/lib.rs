//! The guides of `docs/guide` in their short form, for the terminal.
//!
//! The crate must not know subcommands, flags and terminals: it is text, made from the guides when it is compiled.

#[cfg(test)]
mod brief;
mod wrap;

/// A guide in its short form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Name of the guide's file, without its ending.
    pub name: &'static str,
    /// Heading of the guide.
    pub title: &'static str,
    /// Introduction, examples and the beginning of each section. Lines of code begin with four blanks.
    pub text: &'static str,
}

impl Topic {
    /// Returns the topic as a page for a terminal of so many columns.
    pub fn page(&self, columns: usize) -> String {
        let (title, text) = (wrap::wrap(self.title, columns), wrap::wrap(self.text, columns));
        format!("{title}\n{text}\nThe whole guide: docs/guide/{}.md\n", self.name)
    }
}

/// Returns the list of topics for a terminal of so many columns.
pub fn index(columns: usize) -> String {
    let widest = TOPICS.iter().map(|topic| topic.name.len()).max().unwrap_or(0);
    let line = |topic: &Topic| {
        let title = format!("  {:<widest$}  {}", topic.name, topic.title);
        title.chars().take(columns).collect::<String>() + "\n"
    };
    let lines: String = TOPICS.iter().map(line).collect();
    format!("Topics:\n{lines}\nRead one with: plimsoll help TOPIC\n")
}

/// All topics, by name.
pub const TOPICS: &[Topic] = include!(concat!(env!("OUT_DIR"), "/topics.rs"));

/// Returns the topic of this name.
pub fn topic(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == name)
}

/// Returns the topics that mention a word in any case, the most relevant first.
fn mentioning(word: &str) -> Vec<&'static Topic> {
    /// Mentions in the text that count as much as one in the title.
    const TITLE: usize = 20;
    let word = word.to_lowercase();
    // "thresholds" and "threshold" are one word.
    let stem = word.strip_suffix('s').filter(|stem| stem.len() > 3).unwrap_or(&word);
    if stem.is_empty() {
        return Vec::new();
    }
    let count = |text: &str| text.to_lowercase().matches(stem).count();
    let rated = TOPICS.iter().map(|topic| (TITLE * count(topic.title) + count(topic.text), topic));
    let mut found: Vec<_> = rated.filter(|(mentions, _)| *mentions > 0).collect();
    found.sort_by_key(|(mentions, _)| std::cmp::Reverse(*mentions));
    found.into_iter().map(|(_, topic)| topic).collect()
}

/// Guides that are named where a word is no topic.
const GUIDES_MAX: usize = 3;

/// Returns the next step for words that are no topic and none of `verbs`: the most similar name, or the guides that mention the last
/// word.
pub fn next_step<'a>(words: &[String], verbs: impl Iterator<Item = &'a str>) -> String {
    let last = words.last().map_or("", String::as_str);
    if let Some(name) = similar(last, verbs).filter(|_| words.len() == 1) {
        return format!("did you mean `plimsoll help {name}`?");
    }
    let names: Vec<&str> = mentioning(last).iter().take(GUIDES_MAX).map(|topic| topic.name).collect();
    match names.first() {
        Some(first) => format!("guides that mention it: {} (plimsoll help {first})", names.join(", ")),
        None => "`plimsoll help` lists both".to_owned(),
    }
}

/// The topic or verb whose name is the most similar, if any is.
fn similar<'a>(name: &str, verbs: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const SIMILARITY_MIN: f64 = 0.7;
    let names = verbs.chain(TOPICS.iter().map(|topic| topic.name));
    let rated = names.map(|known| (strsim::normalized_damerau_levenshtein(name, known), known));
    let best = rated.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 >= SIMILARITY_MIN).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_words_get_a_next_step() {
        let check = |words: &[&str], expect: &str| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let found = next_step(&words, ["compare", "run"].into_iter());
            assert!(found.starts_with(expect), "{words:?}: {found}");
        };
        check(&["complare"], "did you mean `plimsoll help compare`?");
        check(&["flwo"], "did you mean `plimsoll help flow`?");
        check(&["thresholds"], "guides that mention it: ");
        check(&["runs", "compar"], "guides that mention it: ");
        check(&["xyzzy"], "`plimsoll help` lists both");
    }

    /// Bytes that all topics may have in the program.
    const BYTES_MAX: usize = 96 << 10;

    #[test]
    fn every_guide_is_a_short_topic() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
        let mut guides: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter_map(|name| name.strip_suffix(".md").map(str::to_owned))
            .collect();
        guides.sort();
        let names: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
        assert_eq!(names, guides);
        for topic in TOPICS {
            assert!(topic.text.len() > 200, "{}: {:?}", topic.name, topic.text);
            assert!(
                topic.text.lines().count() < 120,
                "{} has {} lines",
                topic.name,
                topic.text.lines().count()
            );
            assert!(!topic.text.contains("]("), "{} has links: {}", topic.name, topic.text);
        }
        let bytes: usize = TOPICS.iter().map(|topic| topic.text.len()).sum();
        assert!(bytes < BYTES_MAX, "{bytes} bytes");
    }

    #[test]
    fn pages_and_the_index_fit_the_terminal() {
        for columns in [60, 100] {
            let pages = TOPICS.iter().map(|topic| topic.page(columns)).chain([index(columns)]);
            for page in pages {
                let wide = page.lines().find(|line| {
                    let is_prose = !line.starts_with("    ") && line.trim().contains(' ');
                    is_prose && line.chars().count() > columns
                });
                assert_eq!(wide, None, "{columns} columns");
            }
        }
        assert!(index(80).contains("\n  flow "), "{}", index(80));
    }

    #[test]
    fn topics_have_names() {
        assert_eq!(topic("flow").map(|topic| topic.title), Some("Asynchronous tasks: submit and poll"));
        assert_eq!(topic("flows"), None);
    }

    #[test]
    fn words_lead_to_topics() {
        let names = |word: &str| mentioning(word).iter().map(|topic| topic.name).collect::<Vec<_>>();
        assert_eq!(names("Bottlenecks").first(), Some(&"diagnosis"));
        assert_eq!(names("threshold"), names("thresholds"));
        assert!(names("thresholds").contains(&"mistakes"), "{:?}", names("thresholds"));
        assert!(names("nonsense").is_empty() && names("").is_empty());
    }
}
