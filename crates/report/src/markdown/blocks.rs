//! Blocks of text out of the Markdown that the sections write.
//!
//! Only elements that the sections use become blocks. Everything else stays text: a link loses its address, and a tag that no
//! section writes is shown as it is. Readers insert the texts of the blocks as text, so that no name can become markup.

use api::page::{ReportBlock, ReportColumn, ReportSpan};
use pulldown_cmark::{Alignment, Event, Options, Parser, Tag, TagEnd};

/// The style of text outside of any element.
const PLAIN: &str = "plain";

/// Returns the blocks of a Markdown text.
pub(super) fn blocks(markdown: &str) -> Vec<ReportBlock> {
    let mut walk = Walk::default();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        walk.see(event);
    }
    walk.end_paragraph();
    walk.blocks
}

/// The position of the walk through a text.
#[derive(Default)]
struct Walk {
    /// Finished blocks of the innermost remark, or of the whole.
    blocks: Vec<ReportBlock>,
    /// Blocks around the remarks that are open.
    outside: Vec<Vec<ReportBlock>>,
    /// The text since the last block, cell or item.
    text: Vec<ReportSpan>,
    /// Open elements that set a style, the innermost last.
    styles: Vec<&'static str>,
    /// Whether `<code>` is open.
    is_code: bool,
    /// Items of the open list.
    items: Option<Vec<Vec<ReportSpan>>>,
    columns: Vec<ReportColumn>,
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Vec<ReportSpan>>>,
    row: Vec<Vec<ReportSpan>>,
    /// The text of an open HTML block.
    html: Option<String>,
}

impl Walk {
    fn see(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.open(tag),
            Event::End(tag) => self.close(tag),
            Event::Code(text) => self.push(&text, "code"),
            Event::Html(text) => match &mut self.html {
                Some(html) => html.push_str(&text),
                None => self.push(&text, PLAIN),
            },
            Event::InlineHtml(tag) => match &*tag {
                "<code>" => self.is_code = true,
                "</code>" => self.is_code = false,
                other => self.push(other, PLAIN),
            },
            Event::Text(text) => self.push(&text, self.style()),
            Event::SoftBreak | Event::HardBreak => self.push(" ", self.style()),
            _ => {}
        }
    }

    fn open(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::BlockQuote(_) => {
                self.end_paragraph();
                self.outside.push(std::mem::take(&mut self.blocks));
            }
            Tag::List(_) => {
                self.end_paragraph();
                self.items = Some(Vec::new());
            }
            Tag::Table(alignments) => {
                self.end_paragraph();
                self.alignments = alignments;
            }
            Tag::Strong => self.styles.push("strong"),
            Tag::Emphasis => self.styles.push("emphasis"),
            Tag::HtmlBlock => self.html = Some(String::new()),
            _ => {}
        }
    }

    fn close(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph if self.items.is_none() => self.end_paragraph(),
            TagEnd::Heading(_) => {
                let text = self.take();
                self.blocks.push(ReportBlock::Heading { text });
            }
            TagEnd::BlockQuote(_) => {
                self.end_paragraph();
                let outside = self.outside.pop().unwrap_or_default();
                let blocks = std::mem::replace(&mut self.blocks, outside);
                self.blocks.push(ReportBlock::Remark { blocks });
            }
            TagEnd::Item => {
                let text = self.take();
                self.items.get_or_insert_default().push(text);
            }
            TagEnd::List(_) => {
                let items = self.items.take().unwrap_or_default();
                self.blocks.push(ReportBlock::List { items });
            }
            TagEnd::TableCell => {
                let cell = self.take();
                self.row.push(cell);
            }
            TagEnd::TableHead => self.columns = self.titles(),
            TagEnd::TableRow => self.rows.push(std::mem::take(&mut self.row)),
            TagEnd::Table => {
                let (columns, rows) = (std::mem::take(&mut self.columns), std::mem::take(&mut self.rows));
                self.blocks.push(ReportBlock::Table { columns, rows });
            }
            TagEnd::Strong | TagEnd::Emphasis => {
                self.styles.pop();
            }
            TagEnd::HtmlBlock => self.end_html(),
            _ => {}
        }
    }

    fn titles(&mut self) -> Vec<ReportColumn> {
        let alignments = self.alignments.iter().map(|alignment| *alignment == Alignment::Right);
        let texts = std::mem::take(&mut self.row).into_iter();
        texts.zip(alignments).map(|(text, is_number)| ReportColumn { text, is_number }).collect()
    }

    /// Lines to be copied are the only HTML blocks that sections write; others are shown as they are.
    fn end_html(&mut self) {
        let html = self.html.take().unwrap_or_default();
        let lines = html.trim().strip_prefix("<pre>").and_then(|text| text.strip_suffix("</pre>"));
        match lines {
            Some(lines) => {
                let lines = decoded(lines.trim_matches('\n'));
                self.blocks.push(ReportBlock::Lines { lines });
            }
            None => {
                self.push(html.trim_end(), PLAIN);
                self.end_paragraph();
            }
        }
    }

    fn style(&self) -> &'static str {
        match self.styles.last() {
            _ if self.is_code => "code",
            Some(style) => style,
            None => PLAIN,
        }
    }

    /// Adds text; neighbours of one style become one piece.
    fn push(&mut self, text: &str, style: &'static str) {
        match self.text.last_mut().filter(|last| last.style == style) {
            Some(last) => last.text.push_str(text),
            None => self.text.push(ReportSpan { text: text.to_owned(), style }),
        }
    }

    fn take(&mut self) -> Vec<ReportSpan> {
        self.is_code = false;
        std::mem::take(&mut self.text)
    }

    fn end_paragraph(&mut self) {
        let text = self.take();
        if !text.is_empty() {
            self.blocks.push(ReportBlock::Paragraph { text });
        }
    }
}

/// Replaces the entities that [`crate::escape::html_lines`] writes.
fn decoded(html: &str) -> String {
    html.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(text: &str, style: &'static str) -> ReportSpan {
        ReportSpan { text: text.to_owned(), style }
    }

    #[track_caller]
    fn check(markdown: &str, expect: &[ReportBlock]) {
        assert_eq!(blocks(markdown), expect, "{markdown}");
    }

    #[test]
    fn elements_of_sections_become_blocks() {
        let plain = |text: &str| vec![span(text, PLAIN)];
        check(
            "#### a\n\nb **c** `d`<code>&#124;</code>\n",
            &[
                ReportBlock::Heading { text: plain("a") },
                ReportBlock::Paragraph {
                    text: vec![span("b ", PLAIN), span("c", "strong"), span(" ", PLAIN), span("d|", "code")],
                },
            ],
        );
        check("* a\n* b\n", &[ReportBlock::List { items: vec![plain("a"), plain("b")] }]);
        check(
            "> a\n> * b\n",
            &[ReportBlock::Remark {
                blocks: vec![
                    ReportBlock::Paragraph { text: plain("a") },
                    ReportBlock::List { items: vec![plain("b")] },
                ],
            }],
        );
        check(
            "| a | b |\n|---|--:|\n| 1 |  |\n",
            &[ReportBlock::Table {
                columns: vec![
                    ReportColumn { text: plain("a"), is_number: false },
                    ReportColumn { text: plain("b"), is_number: true },
                ],
                rows: vec![vec![plain("1"), vec![]]],
            }],
        );
        check(
            "of\n<pre>\na &lt;b\n\n&amp;lt;\n</pre>\n",
            &[
                ReportBlock::Paragraph { text: plain("of") },
                ReportBlock::Lines { lines: "a <b\n\n&lt;".to_owned() },
            ],
        );
    }

    #[test]
    fn foreign_markup_stays_text() {
        let text = |block: &ReportBlock| match block {
            ReportBlock::Paragraph { text } => text.iter().map(|span| span.text.as_str()).collect::<String>(),
            other => panic!("{other:?}"),
        };
        let all = blocks("<script>alert(1)</script>\n\na <b onclick=x>b</b> [c](javascript:d)\n");
        assert_eq!(text(&all[0]), "<script>alert(1)</script>");
        assert_eq!(text(&all[1]), "a <b onclick=x>b</b> c");
    }
}
