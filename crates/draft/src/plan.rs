//! The plan of a script: requests in groups, and the values that they need. Every kind of source becomes one, and one writer reads it.

use crate::js;
use crate::text::Text;
use crate::url::Url;

/// Stands for a value that is not known, as long as a token.
const UNKNOWN: &str = "unknown value";

/// Notes that are kept; more are counted.
const NOTES_MAX: usize = 100;

/// All that a script says.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The addresses that requests go to.
    pub(crate) bases: Vec<Base>,
    /// Values that have a name at the top of the script.
    pub(crate) constants: Vec<Constant>,
    /// Secrets that the script takes from its environment.
    pub(crate) secrets: Vec<Secret>,
    /// Variables that have no value in the source, with their places.
    pub(crate) unset: Vec<(String, String)>,
    /// Rows that iterations choose from.
    pub(crate) data: Vec<Data>,
    /// The scenarios.
    pub(crate) flows: Vec<Flow>,
    /// Parts that could not be converted, in sentences.
    pub(crate) notes: Notes,
    /// The 95th percentile of the recorded durations, ms.
    pub(crate) p95_ms: Option<f64>,
}

/// An address without its path, and the constant that holds it.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) name: String,
    pub(crate) address: String,
}

/// A value at the top of the script, which a variable of the environment replaces.
#[derive(Debug)]
pub(crate) struct Constant {
    pub(crate) name: String,
    pub(crate) variable: String,
    /// The value; empty where the source has none.
    pub(crate) value: Text,
    /// A constant of the script alone, which no variable replaces.
    pub(crate) is_fixed: bool,
}

/// A secret that the source has and the script has not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// The variable that the script reads it from.
    pub variable: String,
    /// Where it was.
    pub place: String,
}

/// Rows of a file beside the script.
#[derive(Debug)]
pub(crate) struct Data {
    /// The constant that holds the rows.
    pub(crate) name: String,
    /// The variable of the row that an iteration uses.
    pub(crate) row: String,
    /// The file's name.
    pub(crate) file: String,
    /// The rows; none where the file is the user's.
    pub(crate) rows: Vec<Vec<(String, String)>>,
    /// For a file of the user: the names of its columns if its first line has none, and the delimiter.
    pub(crate) table: Option<Table>,
}

/// How a table of comma-separated values is read.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) delimiter: String,
    pub(crate) columns: Vec<String>,
    pub(crate) has_header: bool,
}

/// One scenario.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    /// Its name in the summary.
    pub(crate) name: String,
    /// Its load, where the source has one.
    pub(crate) load: Option<Load>,
    /// Statements at the start of each iteration.
    pub(crate) opening: Vec<String>,
    pub(crate) steps: Vec<Step>,
    /// Variables that hold what responses returned, with their first values.
    pub(crate) variables: Vec<(String, Text)>,
}

/// The load of a scenario, as a thread group has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Load {
    pub(crate) vus: Text,
    pub(crate) ramp_s: Text,
    /// Iterations of each VU; none for no limit.
    pub(crate) iterations: Option<Text>,
    /// Seconds in all.
    pub(crate) duration_s: Option<Text>,
    pub(crate) delay_s: Option<Text>,
}

/// One step of a scenario.
#[derive(Debug)]
pub(crate) enum Step {
    Group(String, Vec<Step>),
    Call(Box<Call>),
    /// Think time, seconds.
    Pause(f64),
    /// Think time as an expression of seconds.
    Sleep(String),
    /// `head { … }`
    Block(String, Vec<Step>),
    Comment(String),
}

/// One request.
#[derive(Debug, Default)]
pub(crate) struct Call {
    pub(crate) method: String,
    pub(crate) url: Url,
    pub(crate) headers: Vec<(String, Text)>,
    pub(crate) body: Body,
    /// Its name in checks and tags.
    pub(crate) name: String,
    /// Expected statuses; any below 400 if empty.
    pub(crate) statuses: Vec<u16>,
    /// More checks: a label and an expression of `r`.
    pub(crate) checks: Vec<(String, String)>,
    pub(crate) captures: Vec<Capture>,
    /// Redirects are not followed.
    pub(crate) stops_at_redirect: bool,
    /// Seconds.
    pub(crate) timeout_s: Option<f64>,
    pub(crate) comments: Vec<String>,
}

/// A value that a response returns and a later request sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Capture {
    pub(crate) variable: String,
    /// An expression of `response`.
    pub(crate) code: String,
}

/// The body of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Body {
    #[default]
    None,
    Text(Text),
    Form(Vec<(Text, Text)>),
    Json(Node),
    Multipart(Vec<Part>),
    /// A file beside the script.
    File(String),
}

/// A value of JSON with parts that are computed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    Number(String),
    Text(Text),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

/// A field of a multipart body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) value: Text,
    /// The name and type of a file.
    pub(crate) file: Option<(String, String)>,
}

/// Sentences, each once, with a limit.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    texts: Vec<String>,
    dropped: usize,
}

impl Notes {
    pub(crate) fn add(&mut self, text: impl Into<String>) {
        let text = text.into();
        if self.texts.contains(&text) {
            return;
        }
        match self.texts.len() < NOTES_MAX {
            true => self.texts.push(text),
            false => self.dropped += 1,
        }
    }

    pub(crate) fn into_texts(mut self) -> Vec<String> {
        if self.dropped > 0 {
            self.texts.push(format!("{} more notes are not shown", self.dropped));
        }
        self.texts
    }
}

impl Plan {
    /// The constant that holds an address.
    pub(crate) fn base(&mut self, address: &str) -> Text {
        let address = address.trim_end_matches('/');
        if let Some(base) = self.bases.iter().find(|base| base.address == address) {
            return Text::constant(base.name.clone());
        }
        let host = address.split("://").last().unwrap_or(address);
        let wish = match self.bases.is_empty() {
            true => "BASE_URL".to_owned(),
            false if host.starts_with(|letter: char| letter.is_ascii_digit()) => {
                format!("HOST{}_URL", js::upper_case(host, ""))
            }
            false => format!("{}_URL", js::upper_case(host, "OTHER")),
        };
        let name = self.free_name(&wish);
        self.bases.push(Base { name: name.clone(), address: address.to_owned() });
        Text::constant(name)
    }

    /// The variable of a secret, which gets a place.
    pub(crate) fn secret(&mut self, wish: &str, place: String) -> Text {
        let variable = self.free_name(wish);
        self.secrets.push(Secret { variable: variable.clone(), place });
        Text::constant(format!("__ENV.{variable}"))
    }

    /// A constant that a variable of the environment replaces.
    pub(crate) fn constant(&mut self, name: &str, variable: &str, value: Text) -> Text {
        let same = |constant: &&Constant| constant.variable == variable && constant.value == value;
        if let Some(constant) = self.constants.iter().find(same) {
            return Text::constant(constant.name.clone());
        }
        let variable = self.free_name(variable);
        let name = self.free_name(name);
        self.constants.push(Constant { name: name.clone(), variable, value, is_fixed: false });
        Text::constant(name)
    }

    /// A constant whose value the source does not have: the user sets it. A secret has no constant.
    pub(crate) fn unset(&mut self, source_name: &str) -> Text {
        let place = format!("variable {source_name}, which has no value in the source");
        if crate::secrets::is_secret_field(source_name, UNKNOWN) {
            return self.secret(&js::upper_case(source_name, "SECRET"), place);
        }
        let variable = self.free_name(&js::upper_case(source_name, "VALUE"));
        let name = self.free_name(&js::camel_case(source_name, "value"));
        self.unset.push((variable.clone(), place));
        self.constants.push(Constant {
            name: name.clone(),
            variable,
            value: Text::default(),
            is_fixed: false,
        });
        Text::constant(name)
    }

    /// A name at the top of the script, or in its environment, that is not in use.
    pub(crate) fn free_name(&self, wish: &str) -> String {
        let is_taken = |name: &str| {
            self.bases.iter().any(|base| base.name == name)
                || self.constants.iter().any(|constant| constant.name == name || constant.variable == name)
                || self.secrets.iter().any(|secret| secret.variable == name)
                || self.data.iter().any(|data| data.name == name || data.row == name)
                || self.flows.iter().any(|flow| flow.variables.iter().any(|(variable, _)| variable == name))
        };
        unused(wish, is_taken)
    }
}

/// The name, or the name with the first number that makes it new.
pub(crate) fn unused(wish: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(wish) {
        return wish.to_owned();
    }
    let separator = if wish.chars().any(|letter| letter.is_ascii_lowercase()) { "" } else { "_" };
    let numbered = (2..).map(|number: u64| format!("{wish}{separator}{number}"));
    numbered.into_iter().find(|name| !is_taken(name)).unwrap_or_default()
}

/// Calls `act` for every request.
pub(crate) fn each_call<'a>(steps: &'a mut [Step], act: &mut dyn FnMut(&'a mut Call)) {
    for step in steps {
        match step {
            Step::Call(call) => act(call),
            Step::Group(_, steps) | Step::Block(_, steps) => each_call(steps, act),
            _ => {}
        }
    }
}

/// Requests and groups in steps.
pub(crate) fn count(steps: &[Step]) -> (usize, usize) {
    steps.iter().fold((0, 0), |(calls, groups), step| match step {
        Step::Call(_) => (calls + 1, groups),
        Step::Group(_, below) => {
            let (more_calls, more_groups) = count(below);
            (calls + more_calls, groups + more_groups + 1)
        }
        Step::Block(_, below) => {
            let (more_calls, more_groups) = count(below);
            (calls + more_calls, groups + more_groups)
        }
        _ => (calls, groups),
    })
}

impl Node {
    /// The value of a parsed document.
    pub(crate) fn of(tree: &crate::tree::Tree) -> Node {
        use crate::tree::Tree;
        match tree {
            Tree::Null => Node::Null,
            Tree::Bool(value) => Node::Bool(*value),
            Tree::Number(text) => Node::Number(text.clone()),
            Tree::Text(text) => Node::Text(Text::literal(text.clone())),
            Tree::List(items) => Node::List(items.iter().map(Node::of).collect()),
            Tree::Map(members) => {
                Node::Map(members.iter().map(|(name, value)| (name.clone(), Node::of(value))).collect())
            }
        }
    }

    /// Calls `act` for every leaf with the name of its member; items of lists have their list's name.
    pub(crate) fn each_leaf(&mut self, name: &str, act: &mut dyn FnMut(&str, &mut Node)) {
        match self {
            Node::List(items) => items.iter_mut().for_each(|item| item.each_leaf(name, act)),
            Node::Map(members) => members.iter_mut().for_each(|(name, value)| value.each_leaf(name, act)),
            leaf => act(name, leaf),
        }
    }
}
