//! Text wrapped at a width.

/// The beginning of a line of code, which is not wrapped.
const CODE: &str = "    ";

/// The beginning of an item, and the indentation of its further lines.
const ITEM: &str = "* ";
const BELOW_ITEM: &str = "  ";

/// Wraps each line of prose or of a list at the width; code stays as it is.
pub(crate) fn wrap(text: &str, columns: usize) -> String {
    text.lines().map(|line| wrap_line(line, columns)).collect()
}

fn wrap_line(line: &str, columns: usize) -> String {
    if line.starts_with(CODE) {
        return format!("{line}\n");
    }
    let indent = if line.starts_with(ITEM) { BELOW_ITEM } else { "" };
    let mut wrapped = String::new();
    let mut width = 0;
    for word in line.split_whitespace() {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > columns {
            wrapped += &format!("\n{indent}{word}");
            width = indent.len() + length;
        } else if width > 0 {
            wrapped += &format!(" {word}");
            width += 1 + length;
        } else {
            wrapped += word;
            width = length;
        }
    }
    wrapped + "\n"
}

#[cfg(test)]
mod tests {
    #[test]
    fn prose_and_items_are_wrapped_and_code_is_not() {
        let text = "one two three\n\n* four five six\n    long code stays\n";
        let expect = "one two\nthree\n\n* four\n  five\n  six\n    long code stays\n";
        assert_eq!(super::wrap(text, 8), expect);
    }
}
