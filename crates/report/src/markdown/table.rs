//! A table of GitHub's Markdown that never grows beyond its bytes.

use crate::Lang;

/// How a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Left(&'static str),
    Right(&'static str),
}

/// Rows under titles. Cells are Markdown already.
pub(crate) struct Table {
    titles: Vec<(String, bool)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(columns: &[Column]) -> Table {
        let title = |column: &Column| match column {
            Column::Left(title) => ((*title).to_owned(), false),
            Column::Right(title) => ((*title).to_owned(), true),
        };
        Table { titles: columns.iter().map(title).collect(), rows: Vec::new() }
    }

    /// A further column of numbers, whose title is Markdown.
    pub(crate) fn number_column(&mut self, title: String) {
        self.titles.push((title, true));
    }

    /// A further column of words.
    pub(crate) fn word_column(&mut self, title: &str) {
        self.titles.push((title.to_owned(), false));
    }

    /// A further row; what it lacks stays empty.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table with as many rows as fit into `bytes_max`, and a line that counts the others.
    pub(crate) fn render(&self, lang: Lang, bytes_max: usize) -> String {
        let titles: Vec<String> = self.titles.iter().map(|(title, _)| title.clone()).collect();
        let rule = self.titles.iter().map(|(_, is_right)| if *is_right { "--:" } else { "---" });
        let mut text = self.line(&titles) + &format!("|{}|\n", rule.collect::<Vec<_>>().join("|"));
        for (index, row) in self.rows.iter().enumerate() {
            let line = self.line(row);
            if text.len() + line.len() > bytes_max {
                let rest = (self.rows.len() - index).to_string();
                return text + &format!("\n{}\n", lang.more_rows(rest));
            }
            text += &line;
        }
        text
    }

    fn line(&self, cells: &[String]) -> String {
        let cell = |index| cells.get(index).map_or("", String::as_str);
        let cells: Vec<&str> = (0..self.titles.len()).map(cell).collect();
        format!("| {} |\n", cells.join(" | "))
    }
}
