//! A document: its version, its servers, and what its references lead to.

use std::cell::RefCell;

use super::foreign;
use crate::DraftError;
use crate::plan::Notes;
use crate::tree::Tree;

/// References that lead to references.
const HOPS_MAX: usize = 32;

/// The address where a document has none.
const NO_SERVER: &str = "http://localhost:8080";

/// An OpenAPI document.
pub(super) struct Document<'a> {
    pub(super) tree: &'a Tree,
    /// Swagger 2.0.
    pub(super) is_swagger: bool,
    notes: RefCell<Notes>,
}

static NULL: Tree = Tree::Null;

impl<'a> Document<'a> {
    pub(super) fn new(tree: &'a Tree) -> Result<Document<'a>, DraftError> {
        let version = |name: &str| tree.get(name).scalar();
        let is_swagger = match (version("openapi"), version("swagger")) {
            (Some(version), _) if version.starts_with("3.") || version == "3" => false,
            (None, Some(version)) if version.starts_with('2') => true,
            (None, None) => return Err(foreign("`openapi` is missing, the version")),
            (Some(version), _) | (None, Some(version)) => {
                return Err(DraftError::Version {
                    found: format!("version {version} of OpenAPI is not supported"),
                    next: "convert it to 3.0, 3.1 or Swagger 2.0",
                });
            }
        };
        if tree.get("paths").members().is_empty() {
            return Err(foreign("`paths` is missing or empty"));
        }
        Ok(Document { tree, is_swagger, notes: RefCell::default() })
    }

    pub(super) fn add_note(&self, text: impl Into<String>) {
        self.notes.borrow_mut().add(text);
    }

    /// Hands over what could not be converted.
    pub(super) fn note(&self, notes: &mut Notes) {
        for text in self.notes.take().into_texts() {
            notes.add(text);
        }
    }

    /// The value itself, or the one that its reference leads to. Null where that is missing.
    pub(super) fn resolve(&self, tree: &'a Tree) -> &'a Tree {
        let mut tree = tree;
        for _ in 0..HOPS_MAX {
            let Some(reference) = tree.get("$ref").text() else { return tree };
            tree = self.find(reference);
        }
        self.add_note("a reference leads to itself; its value is empty");
        &NULL
    }

    fn find(&self, reference: &str) -> &'a Tree {
        let Some(pointer) = reference.strip_prefix('#') else {
            let shown = crate::js::label(reference);
            self.add_note(format!("reference `{shown}` leads to another file and was not followed; bundle the document into one file"));
            return &NULL;
        };
        let parts = pointer
            .split('/')
            .skip(1)
            .map(|part| crate::url::decode(part, false).replace("~1", "/").replace("~0", "~"));
        parts.fold(self.tree, |tree, part| match tree {
            Tree::List(items) => part.parse::<usize>().ok().and_then(|nth| items.get(nth)).unwrap_or(&NULL),
            tree => tree.get(&part),
        })
    }

    /// The address of the first server.
    pub(super) fn address(&self) -> String {
        if self.is_swagger {
            let scheme = self
                .tree
                .get("schemes")
                .items()
                .iter()
                .filter_map(Tree::text)
                .find(|scheme| scheme.starts_with("http"));
            let base = self.tree.get("basePath").text().unwrap_or_default().trim_end_matches('/');
            return match self.tree.get("host").text().filter(|host| !host.is_empty()) {
                Some(host) => format!("{}://{host}{base}", scheme_of(scheme, self.tree)),
                None => format!("{NO_SERVER}{base}"),
            };
        }
        let server = self.tree.get("servers").items().first().unwrap_or(&NULL);
        let mut address = server.get("url").text().unwrap_or_default().to_owned();
        for (name, variable) in server.get("variables").members() {
            let value = variable.get("default").scalar().unwrap_or_default();
            address = address.replace(&format!("{{{name}}}"), &value);
        }
        let address = address.trim_end_matches('/');
        match address.contains("://") {
            true => address.to_owned(),
            false if address.starts_with("//") => format!("https:{address}"),
            false if address.is_empty() || address.starts_with('/') => format!("{NO_SERVER}{address}"),
            false => format!("{NO_SERVER}/{address}"),
        }
    }
}

fn scheme_of<'a>(first: Option<&'a str>, tree: &'a Tree) -> &'a str {
    let is_encrypted =
        |tree: &Tree| tree.get("schemes").items().iter().any(|scheme| scheme.text() == Some("https"));
    if is_encrypted(tree) { "https" } else { first.unwrap_or("https") }
}
