//! Functions that a module declares twice at its top level: an error by the letter, which Babel and Go's engine overlook.

use std::collections::BTreeMap;

use oxc_allocator::Allocator;
use oxc_ast::ast::{Declaration, Function, Statement};
use oxc_parser::Parser;
use oxc_span::{SourceType, Span};

use crate::strip::position;

/// A function with several declarations, of which the last counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redeclared {
    /// The function.
    pub name: String,
    /// The lines of its declarations, from 1.
    pub lines: Vec<usize>,
}

/// One declaration.
struct Declared {
    span: Span,
    is_exported: bool,
}

/// Returns a module with the last declaration of each function alone, and what was left out; `None` if there is nothing to leave
/// out. Declarations are hoisted, so that the earlier ones are never called. Positions of the rest stay.
pub fn without_redeclared(text: &str) -> Option<(String, Vec<Redeclared>)> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::mjs()).parse();
    if parsed.panicked {
        return None;
    }
    let mut functions: BTreeMap<&str, Vec<Declared>> = BTreeMap::new();
    for statement in &parsed.program.body {
        if let Some((name, declared)) = declaration(statement) {
            functions.entry(name).or_default().push(declared);
        }
    }
    let (mut code, mut redeclared, mut exports) = (text.to_owned(), Vec::new(), String::new());
    for (name, all) in &functions {
        let exported = all.iter().filter(|declared| declared.is_exported).count();
        // A name that is exported twice is an error everywhere.
        if all.len() < 2 || exported > 1 {
            continue;
        }
        let (last, earlier) = all.split_last()?;
        earlier.iter().for_each(|declared| blank(&mut code, declared.span));
        if exported > 0 && !last.is_exported {
            exports.push_str(&format!("\nexport {{ {name} }};"));
        }
        let lines = all.iter().map(|declared| position(text, declared.span.start as usize).0).collect();
        redeclared.push(Redeclared { name: (*name).to_owned(), lines });
    }
    code.push_str(&exports);
    (!redeclared.is_empty()).then_some((code, redeclared))
}

fn declaration<'a>(statement: &'a Statement<'_>) -> Option<(&'a str, Declared)> {
    let (function, span, is_exported): (&Function<'_>, Span, bool) = match statement {
        Statement::FunctionDeclaration(function) => (function, function.span, false),
        Statement::ExportDeclaration(export) => match &export.declaration {
            Declaration::FunctionDeclaration(function) => (function, export.span, true),
            _ => return None,
        },
        _ => return None,
    };
    let name = function.id.as_ref()?.name.as_str();
    (!function.r#async && !function.generator).then_some((name, Declared { span, is_exported }))
}

/// Replaces everything but line ends by spaces, in place: the text keeps its length in bytes.
fn blank(code: &mut String, span: Span) {
    let range = span.start as usize..span.end as usize;
    let blanks: String = code[range.clone()]
        .chars()
        .flat_map(|letter| match letter {
            '\n' | '\r' => vec![letter],
            _ => vec![' '; letter.len_utf8()],
        })
        .collect();
    code.replace_range(range, &blanks);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Option<(&str, &[(&str, &[usize])])>) {
        let actual = without_redeclared(text);
        let actual = actual.as_ref().map(|(code, redeclared)| {
            let named: Vec<(&str, &[usize])> =
                redeclared.iter().map(|one| (one.name.as_str(), one.lines.as_slice())).collect();
            (code.as_str(), named)
        });
        assert_eq!(actual, expect.map(|(code, named)| (code, named.to_vec())), "{text}");
    }

    #[test]
    fn the_last_declaration_stays() {
        check(
            "function a() {\n  return 'é'; }\nfunction a() { return 2 }",
            Some(("              \n                \nfunction a() { return 2 }", &[("a", &[1, 3])])),
        );
        check(
            "export function a() {}\nfunction a() {}",
            Some(("                      \nfunction a() {}\nexport { a };", &[("a", &[1, 2])])),
        );
        check(
            "function a() {}\nexport function a() {}",
            Some(("               \nexport function a() {}", &[("a", &[1, 2])])),
        );
    }

    #[test]
    fn what_is_an_error_everywhere_stays_one() {
        for text in [
            "function a() {}\nfunction b() {}",
            "export function a() {}\nexport function a() {}",
            "async function a() {}\nfunction a() {}",
            "function* a() {}\nfunction a() {}",
            "if (x) { function a() {} function a() {} }",
            "let a = 1; let a = 2;",
            "function (",
            "",
        ] {
            check(text, None);
        }
    }
}
