//! Source maps: from a position in generated code to the one it was generated from.

use oxc_sourcemap::SourceMap as Decoded;

/// A source map, decoded once and asked many times ([ECMA-426](https://tc39.es/ecma426/)).
#[derive(Debug, Default)]
pub struct SourceMap {
    root: Option<String>,
    sources: Vec<Source>,
    /// In order of their generated positions.
    marks: Vec<Mark>,
}

#[derive(Debug)]
struct Source {
    name: String,
    text: Option<String>,
}

/// One mapping; lines and columns from 0.
#[derive(Clone, Copy, Debug)]
struct Mark {
    generated: (u32, u32),
    original: (u32, u32),
    source: u32,
}

/// Where generated code comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Original<'a> {
    /// The source as the map names it, not resolved.
    pub source: &'a str,
    /// The source's text, where the map has it.
    pub text: Option<&'a str>,
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
}

/// Why a text is not a source map.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read the source map: {0}")]
pub struct MapError(String);

impl SourceMap {
    /// Reads a map's JSON.
    ///
    /// # Errors
    /// It is not JSON, or not a source map (or one made of sections).
    pub fn parse(json: &str) -> Result<SourceMap, MapError> {
        // A proxy may have put this in front, against inclusion as a script.
        let json = json.strip_prefix(")]}'").unwrap_or(json);
        Decoded::from_json_string(json)
            .map(|decoded| from_decoded(&decoded))
            .map_err(|error| MapError(error.to_string()))
    }

    /// The folder that names of sources are relative to, where the map states one.
    pub fn root(&self) -> Option<&str> {
        self.root.as_deref()
    }

    /// Where the code at a line and a column, both from 1, comes from.
    pub fn original(&self, line: usize, column: usize) -> Option<Original<'_>> {
        let at = (u32::try_from(line.checked_sub(1)?).ok()?, u32::try_from(column.saturating_sub(1)).ok()?);
        let after = self.marks.partition_point(|mark| mark.generated <= at);
        // Before the first mapping of a line, that mapping is nearer than the end of the line above.
        let before = after.checked_sub(1).and_then(|index| self.marks.get(index));
        let mark =
            [before, self.marks.get(after)].into_iter().flatten().find(|mark| mark.generated.0 == at.0)?;
        let source = self.sources.get(mark.source as usize)?;
        Some(Original {
            source: &source.name,
            text: source.text.as_deref(),
            line: mark.original.0 as usize + 1,
            column: mark.original.1 as usize + 1,
        })
    }
}

/// Of code that has just been printed: the text is where the name says, so the map does not keep a copy.
pub(crate) fn from_printed(printed: &Decoded<'_>) -> SourceMap {
    let mut map = from_decoded(printed);
    map.sources.iter_mut().for_each(|source| source.text = None);
    map
}

fn from_decoded(decoded: &Decoded<'_>) -> SourceMap {
    let mut texts = decoded.get_source_contents();
    let sources = decoded
        .get_sources()
        .map(|name| Source { name: name.to_owned(), text: texts.next().flatten().map(str::to_owned) });
    let sources = sources.collect();
    let marks = decoded.get_tokens().filter_map(|token| {
        Some(Mark {
            generated: (token.get_dst_line(), token.get_dst_col()),
            original: (token.get_src_line(), token.get_src_col()),
            source: token.get_source_id()?,
        })
    });
    let mut marks: Vec<Mark> = marks.collect();
    marks.sort_by_key(|mark| mark.generated);
    let root = decoded.get_source_root().filter(|root| !root.is_empty()).map(str::to_owned);
    SourceMap { root, sources, marks }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Line 1 comes from line 11 of the source, line 2 from its line 12, column 5.
    const MAP: &str = r#"{"version":3,"sources":["src/orig.ts"],"names":[],"mappings":"AAUA;AACI"}"#;

    fn check(line: usize, column: usize, expect: Option<(usize, usize)>) {
        let map = SourceMap::parse(MAP).unwrap();
        let original = map.original(line, column).map(|original| (original.line, original.column));
        assert_eq!(original, expect, "{line}:{column}");
    }

    #[test]
    fn positions() {
        check(1, 1, Some((11, 1)));
        check(1, 40, Some((11, 1)));
        check(2, 9, Some((12, 5)));
        check(3, 1, None);
        check(0, 0, None);
        check(usize::MAX, usize::MAX, None);
    }

    #[test]
    fn what_is_no_map_is_an_error() {
        for text in ["", "{not json", "[]", r#"{"version":3,"sources":[],"names":[],"mappings":"§"}"#] {
            assert!(SourceMap::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_map_may_carry_its_sources() {
        let json = r#"{"version":3,"sourceRoot":"/r","sources":["a.ts"],"sourcesContent":["x"],"names":[],"mappings":"AAAA"}"#;
        let map = SourceMap::parse(json).unwrap();
        assert_eq!((map.root(), map.original(1, 1).unwrap().text), (Some("/r"), Some("x")));
    }
}
