//! From positions in the code that runs to positions in the code that was written. Only errors that are shown ask for it.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use transpile::SourceMap;

use super::{Sources, file_url, normalize};

/// A map with more bytes is not read.
const MAP_BYTES_MAX: u64 = 64 << 20;

/// The comment that names a file's map stands in its last bytes, unless the map itself is in the comment.
const COMMENT: &str = "sourceMappingURL=";

/// Prefix of each line of a stack.
const FRAME: &str = "at ";

/// Mapping of a file that runs in another form than it was written in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Generated {
    /// Leads from what runs to what was written.
    pub(crate) map: Option<Arc<SourceMap>>,
    /// How many characters the host put before the file's first line.
    pub(crate) first_line_chars: usize,
    /// Whether a map that the file itself names has been looked for.
    pub(crate) is_looked_up: bool,
}

/// A position in a file, lines and columns from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// Translates positions with what the sources know.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a>(&'a Sources);

impl<'a> Places<'a> {
    pub(crate) fn new(sources: &'a Sources) -> Places<'a> {
        Places(sources)
    }

    /// A text that is about to be shown, with the positions of all stack frames in it translated. Where scripts read
    /// stacks that are translated already, nothing is left to do.
    pub(crate) fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.0.is_mapped() { Cow::Borrowed(text) } else { self.translate(text) }
    }

    /// A text with the positions of all stack frames in it translated.
    pub(crate) fn translate<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !text.contains(FRAME) || !text.contains("://") {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            match frame(line).and_then(|(at, place)| Some((at, place.len(), self.original(&parse(place)?)?)))
            {
                Some((at, length, place)) => {
                    out.push_str(&line[..at]);
                    out.push_str(&format!("{}:{}:{}", place.file, place.line, place.column));
                    out.push_str(&line[at + length..]);
                }
                None => out.push_str(line),
            }
        }
        Cow::Owned(out)
    }

    /// The text of a file that a translated position names.
    pub(crate) fn text(&self, file: &str) -> Option<Arc<str>> {
        self.0.text(file).or_else(|| self.0.mapped_text(file))
    }

    /// Where a position of what runs was written; `None` when it was written there.
    fn original(&self, place: &Place) -> Option<Place> {
        let generated = self.0.generated(&place.file);
        let shift = if place.line == 1 { generated.first_line_chars } else { 0 };
        let column = place.column.saturating_sub(shift).max(1);
        let Some(map) = generated.map else {
            return (shift > 0).then(|| Place { column, ..place.clone() });
        };
        let original = map.original(place.line, column)?;
        let file = absolute(&place.file, map.root(), original.source);
        if let Some(text) = original.text {
            self.0.add_mapped_text(&file, text);
        }
        Some(Place { file, line: original.line, column: original.column })
    }
}

/// The first stack frame that lies in a file.
pub(crate) fn first_place(stack: &str) -> Option<Place> {
    stack.lines().find_map(|line| parse(frame(line)?.1))
}

/// Where in a line `file:///x.js:3:9` is, of `at name (file:///x.js:3:9)` or `at file:///x.js:3:9`.
fn frame(line: &str) -> Option<(usize, &str)> {
    let start = line.len() - line.trim_start().len();
    let rest = line[start..].trim_end().strip_prefix(FRAME)?;
    let start = start + FRAME.len();
    let (skipped, place) = match rest.strip_suffix(')') {
        Some(inner) => {
            let at = inner.find("://").and_then(|scheme| inner[..scheme].rfind('('))?;
            (at + 1, &inner[at + 1..])
        }
        None => (0, rest),
    };
    place.contains("://").then_some((start + skipped, place))
}

fn parse(place: &str) -> Option<Place> {
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    Some(Place { file: parts.next()?.to_owned(), line, column })
}

/// A map's name of a source, seen from the file that the map belongs to.
fn absolute(base: &str, root: Option<&str>, name: &str) -> String {
    let name = match root {
        Some(root) if !name.contains("://") && root.ends_with('/') => format!("{root}{name}"),
        Some(root) if !name.contains("://") => format!("{root}/{name}"),
        _ => name.to_owned(),
    };
    if name.contains("://") {
        return name;
    }
    match base.strip_prefix("file://") {
        Some(path) => file_url(&normalize(&Path::new(path).parent().unwrap_or(Path::new("/")).join(name))),
        None => format!("{}/{name}", base.rsplit_once('/').map_or(base, |(folder, _)| folder)),
    }
}

/// The target of a text's last `//# sourceMappingURL=`.
fn reference(text: &str) -> Option<&str> {
    let (_, line) = text.rsplit_once(COMMENT)?;
    let before = &text[..text.len() - line.len() - COMMENT.len()];
    let is_comment = ["//# ", "//@ ", "/*# "].iter().any(|opening| before.ends_with(opening));
    let line = line.trim_end().trim_end_matches("*/").trim_end();
    (is_comment && !line.contains(['\n', '"', '\'']) && !line.is_empty()).then_some(line)
}

/// Whether a text says where its map is.
pub(crate) fn names_a_map(text: &str) -> bool {
    reference(text).is_some()
}

/// The file that holds a file's map, if it is a file of its own.
fn map_path(url: &str, reference: &str) -> Option<std::path::PathBuf> {
    let path = Path::new(url.strip_prefix("file://")?);
    let is_local = !reference.starts_with("data:") && !reference.contains("://");
    is_local.then(|| normalize(&path.parent().unwrap_or(Path::new("/")).join(reference)))
}

/// A file's map that is named and not there.
pub(crate) fn missing_map(url: &str, text: &str) -> Option<String> {
    let path = map_path(url, reference(text)?)?;
    (!path.is_file()).then(|| format!("the source map \"{}\" of {url} is missing", path.display()))
}

/// The map that a file brings along: in its own last line, or beside it.
pub(crate) fn map_of(url: &str, text: &str) -> Option<SourceMap> {
    let reference = reference(text)?;
    let json = match reference.strip_prefix("data:") {
        Some(data) => {
            let (kind, content) = data.split_once(',')?;
            kind.ends_with(";base64").then(|| BASE64.decode(content).ok()).flatten()?
        }
        None => files::read_regular(&map_path(url, reference)?, MAP_BYTES_MAX).ok()?,
    };
    SourceMap::parse(std::str::from_utf8(&json).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_the_first_frame_in_a_file() {
        let stack = "    at get (native)\n    at inner (file:///a/b.js:3:9)\n    at file:///a/c.js:1:1";
        let place = first_place(stack).unwrap();
        assert_eq!(place, Place { file: "file:///a/b.js".into(), line: 3, column: 9 });
    }

    fn check_frame(line: &str, expect: Option<&str>) {
        assert_eq!(frame(line).map(|(_, place)| place), expect, "{line}");
        if let Some((at, place)) = frame(line) {
            assert_eq!(&line[at..at + place.len()], place);
        }
    }

    #[test]
    fn frames() {
        check_frame("    at f (file:///a b/(c).js:3:9)\n", Some("file:///a b/(c).js:3:9"));
        check_frame("\tat webpack:///./x.ts:1:2", Some("webpack:///./x.ts:1:2"));
        check_frame("at x (native)", None);
        check_frame("look at http://a:1:2", None);
    }

    fn check_reference(text: &str, expect: Option<&str>) {
        assert_eq!(reference(text), expect, "{text}");
    }

    #[test]
    fn references() {
        check_reference("x\n//# sourceMappingURL=a.js.map\n", Some("a.js.map"));
        check_reference("x\n//@ sourceMappingURL=a.js.map", Some("a.js.map"));
        check_reference("x /*# sourceMappingURL=a.map */", Some("a.map"));
        check_reference("const s = '//# sourceMappingURL=a.map';\ncode", None);
        check_reference("sourceMappingURL=a.map", None);
        check_reference("//# sourceMappingURL=", None);
    }

    fn check_absolute(base: &str, root: Option<&str>, name: &str, expect: &str) {
        assert_eq!(absolute(base, root, name), expect);
    }

    #[test]
    fn names_of_sources() {
        check_absolute("file:///a/dist/x.js", None, "../src/x.ts", "file:///a/src/x.ts");
        check_absolute("file:///a/x.js", Some("/abs/base"), "x.ts", "file:///abs/base/x.ts");
        check_absolute("file:///a/x.js", Some("webpack:///"), "./x.ts", "webpack:///./x.ts");
        check_absolute("file:///a/x.js", None, "webpack:///./x.ts", "webpack:///./x.ts");
        check_absolute("https://h/a/x.js", None, "x.ts", "https://h/a/x.ts");
    }

    #[test]
    fn a_stack_is_translated() {
        let sources = Sources::new("/t".into(), Default::default(), Vec::new());
        let map = r#"{"version":3,"sources":["o.ts"],"sourcesContent":["written"],"names":[],"mappings":"AAUA;AACI"}"#;
        let text = format!("x\n//# sourceMappingURL=data:application/json;base64,{}", BASE64.encode(map));
        sources.add_text("file:///t/g.js", text);
        let places = Places::new(&sources);
        let stack = "Error: x\n    at f (file:///t/g.js:2:9)\n    at file:///t/other.js:2:9\n";
        let expect = "Error: x\n    at f (file:///t/o.ts:12:5)\n    at file:///t/other.js:2:9\n";
        assert_eq!(places.translate(stack), expect);
        assert_eq!(places.text("file:///t/o.ts").as_deref(), Some("written"));
    }
}
