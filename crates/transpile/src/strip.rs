//! Stripping types.

use std::path::{Path, PathBuf};

use oxc_allocator::Allocator;
use oxc_ast::ast::{Decorator, Program};
use oxc_ast_visit::Visit;
use oxc_codegen::{Codegen, CodegenOptions, CommentOptions};
use oxc_diagnostics::{Diagnostics, OxcDiagnostic};
use oxc_parser::Parser;
use oxc_semantic::SemanticBuilder;
use oxc_span::{SourceType, Span};
use oxc_transformer::{TransformOptions, Transformer};

use crate::map::{self, SourceMap};

/// JavaScript made of TypeScript.
#[derive(Debug)]
pub struct Output {
    /// The JavaScript.
    pub code: String,
    /// From its positions to those of the TypeScript.
    pub map: SourceMap,
}

/// A text that is neither JavaScript nor TypeScript.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({line}:{column})")]
pub struct SyntaxError {
    /// The error.
    pub message: String,
    /// Line of the text, from 1.
    pub line: usize,
    /// Character of the line, from 1.
    pub column: usize,
    /// The correction, where known.
    pub help: Option<String>,
}

/// Strips the types of a TypeScript text; `None` when it is JavaScript as it stands.
///
/// The difference matters beyond speed: an import that is used nowhere is dropped from TypeScript, because it may have
/// been of a type, while JavaScript evaluates it. k6 decides in the same way.
///
/// # Errors
/// It is not TypeScript either, or uses what would need a run-time library (decorators).
pub fn strip_types(name: &str, text: &str) -> Result<Option<Output>, SyntaxError> {
    let allocator = Allocator::default();
    if is_javascript(&allocator, text) {
        return Ok(None);
    }
    let parsed = Parser::new(&allocator, text, SourceType::ts().with_unambiguous(true)).parse();
    refuse(&parsed.diagnostics, text)?;
    let mut program = parsed.program;
    refuse_decorators(&program, text)?;
    let semantic =
        SemanticBuilder::new_compiler().with_excess_capacity(1.0).with_enum_eval(true).build(&program);
    refuse(&semantic.diagnostics, text)?;
    let options = TransformOptions::default();
    let transformed = Transformer::new(&allocator, Path::new(name), &options)
        .build_with_scoping(semantic.semantic.into_scoping(), &mut program);
    refuse(&transformed.diagnostics, text)?;
    Ok(Some(print(name, &program)))
}

fn is_javascript(allocator: &Allocator, text: &str) -> bool {
    let parsed = Parser::new(allocator, text, SourceType::unambiguous()).parse();
    !parsed.panicked && !parsed.diagnostics.has_errors()
}

fn print(name: &str, program: &Program<'_>) -> Output {
    let options = CodegenOptions {
        source_map_path: Some(PathBuf::from(name)),
        comments: CommentOptions::disabled(),
        ..CodegenOptions::default()
    };
    let printed = Codegen::new().with_options(options).build(program);
    let map = printed.map.map(|map| map::from_printed(&map)).unwrap_or_default();
    Output { code: printed.code, map }
}

fn refuse(diagnostics: &Diagnostics, text: &str) -> Result<(), SyntaxError> {
    diagnostics.errors().next().map_or(Ok(()), |error| Err(syntax_error(error, text)))
}

/// Neither the engine nor the transform knows the standard's decorators, and k6 does not return from reading one.
fn refuse_decorators(program: &Program<'_>, text: &str) -> Result<(), SyntaxError> {
    #[derive(Default)]
    struct First(Option<Span>);
    impl<'a> Visit<'a> for First {
        fn visit_decorator(&mut self, decorator: &Decorator<'a>) {
            self.0.get_or_insert(decorator.span);
        }
    }
    if !text.contains('@') {
        return Ok(());
    }
    let mut first = First::default();
    first.visit_program(program);
    let Some(span) = first.0 else { return Ok(()) };
    let (line, column) = position(text, span.start as usize);
    Err(SyntaxError { message: "decorators are not supported".into(), line, column, help: None })
}

fn syntax_error(error: &OxcDiagnostic, text: &str) -> SyntaxError {
    // Of several labels the last is where reading stopped; the others say what it collides with.
    let offset = error.labels.iter().map(|label| label.offset() as usize).max().unwrap_or(0);
    let (line, column) = position(text, offset);
    let help = error.help.as_ref().map(ToString::to_string);
    SyntaxError { message: error.message.to_string(), line, column, help }
}

/// Line and character, both from 1, of a byte offset.
pub(crate) fn position(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let output = strip_types("file:///t.ts", text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let code = output.expect("not JavaScript as it stands").code;
        for part in expect {
            assert!(code.contains(part), "{text}\n→\n{code}\nlacks {part}");
        }
    }

    fn check_error(text: &str, line: usize, column: usize) {
        let error = strip_types("file:///t.ts", text).expect_err(text);
        assert_eq!((error.line, error.column), (line, column), "{error}");
    }

    #[test]
    fn types_go() {
        check("const a: number = 1;", &["const a = 1"]);
        check("let b = <any>a!;", &["let b = a"]);
        check("const c = x as const satisfies Y;", &["const c = x"]);
        check("interface A { b: string }\ntype C = A;\nexport const d = <T,>(x: T): T => x;", &["(x) => x"]);
        check("abstract class A { declare x: string; private y?: number; abstract z(): void }", &["class A"]);
        check("function f(a: string): void; function f(a: any) { return a }", &["function f(a) {"]);
        check("export default function (this: any, a?: number): void {}", &["function(a)"]);
    }

    #[test]
    fn what_runs_stays() {
        check("enum A { B = 1, C }", &["A[A[\"B\"] = 1] = \"B\""]);
        check("namespace N { export const q = 5 }", &["const q = _N.q = 5"]);
        check("class A { constructor(private a: number) {} }", &["this.a = a"]);
        check("import x = N.y; const z: number = x;", &["var x = N.y", "const z = x"]);
    }

    #[test]
    fn imports_of_types_go() {
        let text = "import { Options } from 'k6/options';\nimport { check, type T } from 'k6';\n\
                    export const options: Options = {}; check(1);";
        check(text, &["import { check } from \"k6\""]);
        let code = strip_types("file:///t.ts", text).unwrap().unwrap().code;
        assert!(!code.contains("k6/options"), "{code}");
    }

    #[test]
    fn javascript_stays_as_it_is() {
        for text in ["import { unused } from './a.js'", "var a = 010; with (a) {}", "await f();", ""] {
            assert!(strip_types("file:///t.ts", text).unwrap().is_none(), "{text}");
        }
    }

    #[test]
    fn errors_have_a_place() {
        check_error("interface A { a: string }\nconst x: number = ;", 2, 19);
        check_error("const é: number = 1; let x = };", 1, 30);
        check_error("function d(...a: any[]) {}\nclass A { m(@d a: string) {} }", 2, 13);
        check_error("function d(...a: any[]) {}\n@d class A {}", 2, 1);
        check_error("const a: number = 1; const a: number = 2;", 1, 28);
    }

    #[test]
    fn positions_lead_back() {
        let text = "interface A {\n  a: string\n}\n\nexport function boom(x: A): never {\n  throw new Error(x.a);\n}\n";
        let output = strip_types("file:///t.ts", text).unwrap().unwrap();
        let line = output.code.lines().position(|line| line.contains("throw")).unwrap() + 1;
        let column = output.code.lines().nth(line - 1).unwrap().find("throw").unwrap() + 1;
        let original = output.map.original(line, column).unwrap();
        assert_eq!((original.source, original.line, original.column), ("file:///t.ts", 6, 3));
    }
}
