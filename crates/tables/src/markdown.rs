//! Tables in Markdown, as GitHub writes them.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::limit::Collector;
use crate::{Read, named_kind};

/// All tables of a text, each named by the heading above it.
pub(crate) fn read(name: &str, text: &str) -> Read {
    let mut walk = Walk { name, ..Walk::default() };
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        walk.see(event);
    }
    walk.collector.finish()
}

/// Where the walk through the document stands.
#[derive(Default)]
struct Walk<'a> {
    name: &'a str,
    collector: Collector,
    heading: String,
    /// Tables since the heading.
    below_heading: u64,
    is_in_heading: bool,
    kind: Option<String>,
    /// Whether the table's rows are kept.
    is_kept: bool,
    /// The cells of the row so far; `None` outside of rows.
    cells: Option<Vec<String>>,
}

impl Walk<'_> {
    fn see(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                self.heading.clear();
                self.below_heading = 0;
                self.is_in_heading = true;
            }
            Event::End(TagEnd::Heading(_)) => self.is_in_heading = false,
            Event::Start(Tag::TableHead | Tag::TableRow) => self.cells = Some(Vec::new()),
            Event::Start(Tag::TableCell) => self.cells.get_or_insert_default().push(String::new()),
            Event::End(TagEnd::TableHead) => self.head(),
            Event::End(TagEnd::TableRow) => {
                let cells = self.cells.take().unwrap_or_default();
                if self.is_kept {
                    self.collector.row(cells);
                }
            }
            Event::Text(text) | Event::Code(text) => self.text(&text),
            Event::Html(text) | Event::InlineHtml(text) => self.remark(&text),
            _ => {}
        }
    }

    fn head(&mut self) {
        let columns = self.cells.take().unwrap_or_default();
        let title = match self.heading.is_empty() {
            true => self.name.to_owned(),
            false => format!("{}: {}", self.name, self.heading),
        };
        self.below_heading += 1;
        let title = match self.below_heading {
            1 => title,
            number => format!("{title} ({number})"),
        };
        self.is_kept = self.collector.begin(&title, self.kind.take(), columns);
    }

    fn text(&mut self, text: &str) {
        if let Some(cell) = self.cells.as_mut().and_then(|cells| cells.last_mut()) {
            cell.push_str(text);
        } else if self.is_in_heading {
            self.heading.push_str(text);
        }
    }

    fn remark(&mut self, text: &str) {
        let remark = text.trim().strip_prefix("<!--").and_then(|text| text.strip_suffix("-->"));
        if let Some(kind) = remark.and_then(named_kind) {
            self.kind = Some(kind);
        }
    }
}
