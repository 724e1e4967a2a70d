//! `k6/html`: pages as selections of nodes, in the manner of jQuery.
//!
//! The tree and its traversal are in the crate `html`. The classes of scripts are written in JavaScript (`html/*.js`) and
//! made when a VU parses its first page; they hold [`Nodes`], which share their page.

use std::rc::Rc;

use html::{Axis, DataValue, Document, Kind, Limits, NodeId, Selector, Until, data_value};
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::{Array, Class, Ctx, Function, Object, Value};

use crate::js::prelude::Prelude;
use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn, js_lifetime};
use crate::state::VuState;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/html", build };

static SELECTION: Prelude = Prelude::new("k6/html", include_str!("html/selection.js"));
static ELEMENT: Prelude = Prelude::new("k6/html/element", include_str!("html/element.js"));

/// Where the functions of [`SELECTION`] are kept once a VU has them.
const MADE: &str = "k6/html, made";

const SELECTION_NATIVES: &[(&str, NativeFn)] = &[
    ("add", add),
    ("attribute", attribute),
    ("choose", choose),
    ("closest", closest),
    ("count", count),
    ("data", data),
    ("elements", elements),
    ("fail", fail),
    ("filter", filter),
    ("find", find),
    ("has", has),
    ("html", inner_html),
    ("index", index),
    ("name", name),
    ("pick", pick),
    ("text", text),
    ("walk", walk),
    ("attributes", attributes),
];

const ELEMENT_NATIVES: &[(&str, NativeFn)] = &[
    ("kind", kind),
    ("linked", linked),
    ("namespace", namespace),
    ("ownText", own_text),
    ("resolve", resolve),
    ("root", root),
];

/// Nodes of a page, in the order in which they were found. The JavaScript side only passes them on.
#[derive(Clone)]
pub(crate) struct Nodes {
    page: Rc<Document>,
    ids: Vec<NodeId>,
}
js_lifetime!(Nodes);

impl<'js> Trace<'js> for Nodes {
    fn trace<'a>(&self, _tracer: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for Nodes {
    const NAME: &'static str = "Nodes";
    type Mutable = Readable;

    fn constructor(_ctx: &Ctx<'js>) -> rquickjs::Result<Option<rquickjs::function::Constructor<'js>>> {
        Ok(None)
    }
}

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let parse: NativeFn = |args| select_page(args.ctx, args.vu, &args.string(0)?, "");
    js::set_natives(&module, vu, &[("parseHTML", parse)])?;
    Ok(module)
}

/// Parses a page and gives it to the script as a selection of the document.
pub(crate) fn select_page<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    page: &str,
    url: &str,
) -> rquickjs::Result<Value<'js>> {
    let page = Document::parse_in_pieces(page, Limits::default(), || js::pause(ctx, vu))?;
    if page.is_cut() {
        vu.warn(
            "a page is too large, or its elements lie too deep in each other; the rest of it is left out",
        );
    }
    let nodes = give(ctx, Nodes { page: Rc::new(page), ids: vec![NodeId::ROOT] })?;
    select(ctx, vu)?.call((nodes, url))
}

/// The function that makes selections in this VU.
fn select<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Function<'js>> {
    if let Some(made) = vu.builtin_objects.borrow().get(MADE).cloned() {
        return made.restore(ctx)?.get("select");
    }
    let element: NativeFn =
        |args| ELEMENT.run(args.ctx, args.vu, &[SELECTION_NATIVES, ELEMENT_NATIVES].concat());
    let made = SELECTION.run(ctx, vu, &[SELECTION_NATIVES, &[("elementMaker", element)]].concat())?;
    let made = made.into_object().ok_or(rquickjs::Error::Unknown)?;
    let select = made.get("select");
    vu.builtin_objects.borrow_mut().insert(MADE, rquickjs::Persistent::save(ctx, made));
    select
}

fn give<'js>(ctx: &Ctx<'js>, nodes: Nodes) -> rquickjs::Result<Value<'js>> {
    Ok(Class::instance(ctx.clone(), nodes)?.into_value())
}

fn give_text<'js>(args: &Args<'_, 'js>, text: &str) -> rquickjs::Result<Value<'js>> {
    Ok(rquickjs::String::from_str(args.ctx.clone(), text)?.into_value())
}

fn give_text_of<'js>(args: &Args<'_, 'js>, text: Option<&str>) -> rquickjs::Result<Value<'js>> {
    text.map_or_else(|| args.undefined(), |text| give_text(args, text))
}

fn given_nodes<'js>(value: &Value<'js>) -> Option<Class<'js, Nodes>> {
    value.as_object().and_then(Class::<Nodes>::from_object)
}

impl Nodes {
    /// The nodes that a native was given as its first argument.
    fn from_args(args: &Args<'_, '_>) -> rquickjs::Result<Nodes> {
        let nodes = given_nodes(&args.get(0)).map(|nodes| nodes.borrow().clone());
        nodes.ok_or_else(|| args.type_error("this is not a selection"))
    }

    /// Other nodes of the same page.
    fn with<'js>(&self, ctx: &Ctx<'js>, ids: Vec<NodeId>) -> rquickjs::Result<Value<'js>> {
        give(ctx, Nodes { page: self.page.clone(), ids })
    }

    fn first(&self) -> Option<NodeId> {
        self.ids.first().copied()
    }
}

/// A condition on nodes.
enum NodeFilter {
    /// Nodes that match a selector; an invalid selector matches none.
    Match(Option<Selector>),
    Nodes(Nodes),
}

impl NodeFilter {
    fn from_arg(args: &Args<'_, '_>, index: usize) -> rquickjs::Result<NodeFilter> {
        match given_nodes(&args.get(index)) {
            Some(nodes) => Ok(NodeFilter::Nodes(nodes.borrow().clone())),
            None => Ok(NodeFilter::Match(Selector::parse(&args.string(index)?).ok())),
        }
    }

    fn is(&self, page: &Rc<Document>, id: NodeId) -> bool {
        match self {
            NodeFilter::Match(selector) => {
                selector.as_ref().is_some_and(|selector| selector.matches(page, id))
            }
            NodeFilter::Nodes(nodes) => Rc::ptr_eq(page, &nodes.page) && nodes.ids.contains(&id),
        }
    }

    /// All such nodes under `from`.
    fn under(&self, page: &Rc<Document>, from: &[NodeId]) -> Vec<NodeId> {
        match self {
            NodeFilter::Match(selector) => {
                selector.as_ref().map_or_else(Vec::new, |selector| page.find(from, selector))
            }
            NodeFilter::Nodes(nodes) if Rc::ptr_eq(page, &nodes.page) => {
                let is_under = |id: &&NodeId| from.iter().any(|top| page.is_under(**id, *top));
                nodes.ids.iter().filter(is_under).copied().collect()
            }
            NodeFilter::Nodes(_) => Vec::new(),
        }
    }
}

/// `fail(message)`: throws an error of the host's.
pub(crate) fn fail<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    Err(args.error(args.string(0)?))
}

/// `find(nodes, wanted)`
fn find<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let nodes = Nodes::from_args(args)?;
    nodes.with(args.ctx, NodeFilter::from_arg(args, 1)?.under(&nodes.page, &nodes.ids))
}

/// `walk(nodes, axis, until?, filter?)`
fn walk<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let nodes = Nodes::from_args(args)?;
    let axis = match args.string(1)?.as_str() {
        "children" => Axis::Children,
        "contents" => Axis::Contents,
        "parent" => Axis::Parent,
        "parents" => Axis::Parents,
        "next" => Axis::Next,
        "nextAll" => Axis::NextAll,
        "prev" => Axis::Previous,
        "prevAll" => Axis::PreviousAll,
        _ => Axis::Siblings,
    };
    let until = args.given(2).map(|_| NodeFilter::from_arg(args, 2)).transpose()?;
    let until = match &until {
        Some(NodeFilter::Match(Some(selector))) => Until::Match(selector),
        Some(NodeFilter::Nodes(until)) if Rc::ptr_eq(&until.page, &nodes.page) => Until::Nodes(&until.ids),
        _ => Until::Never,
    };
    let mut found = nodes.page.walk(&nodes.ids, axis, &until);
    if args.given(3).is_some() {
        let wanted = NodeFilter::from_arg(args, 3)?;
        found.retain(|id| wanted.is(&nodes.page, *id));
    }
    nodes.with(args.ctx, found)
}

/// `closest(nodes, wanted)`
fn closest<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let (nodes, wanted) = (Nodes::from_args(args)?, NodeFilter::from_arg(args, 1)?);
    nodes.with(args.ctx, nodes.page.closest(&nodes.ids, &|id| wanted.is(&nodes.page, id)))
}

/// `filter(nodes, wanted, keep)`: the nodes that are what is wanted, or the others.
fn filter<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let (nodes, wanted, keep) =
        (Nodes::from_args(args)?, NodeFilter::from_arg(args, 1)?, js::to_bool(&args.get(2)));
    let ids = nodes.ids.iter().filter(|id| wanted.is(&nodes.page, **id) == keep).copied().collect();
    nodes.with(args.ctx, ids)
}

/// `has(nodes, wanted)`: the nodes with such a node under them.
fn has<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let (nodes, wanted) = (Nodes::from_args(args)?, NodeFilter::from_arg(args, 1)?);
    let page = &nodes.page;
    let ids = nodes.ids.iter().filter(|id| !wanted.under(page, &[**id]).is_empty()).copied().collect();
    nodes.with(args.ctx, ids)
}

/// `add(nodes, wanted)`: these nodes and the others, each once.
fn add<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let (nodes, wanted) = (Nodes::from_args(args)?, NodeFilter::from_arg(args, 1)?);
    let mut ids = nodes.ids.clone();
    let mut known: std::collections::HashSet<NodeId> = ids.iter().copied().collect();
    ids.extend(wanted.under(&nodes.page, &[NodeId::ROOT]).into_iter().filter(|id| known.insert(*id)));
    nodes.with(args.ctx, ids)
}

/// `pick(nodes, start, end?)`: part of the nodes, by their places.
fn pick<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let nodes = Nodes::from_args(args)?;
    let length = nodes.ids.len();
    let place = |index: usize, default: usize| -> rquickjs::Result<usize> {
        if args.given(index).is_none() {
            return Ok(default);
        }
        Ok((js::to_number(args.ctx, &args.get(index))? as usize).min(length))
    };
    let (start, end) = (place(1, 0)?, place(2, length)?);
    nodes.with(args.ctx, nodes.ids.get(start..end.max(start)).unwrap_or_default().to_vec())
}

/// `choose(nodes, places)`: the nodes at these places.
fn choose<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let nodes = Nodes::from_args(args)?;
    let places = args.get(1).into_array().ok_or_else(|| args.type_error("places must be an array"))?;
    let mut ids = Vec::with_capacity(places.len());
    for place in places.iter::<usize>() {
        ids.extend(nodes.ids.get(place?));
    }
    nodes.with(args.ctx, ids)
}

/// `elements(nodes, selector)`: the elements of the whole page that the selector describes.
fn elements<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let (nodes, wanted) = (Nodes::from_args(args)?, NodeFilter::from_arg(args, 1)?);
    nodes.with(args.ctx, wanted.under(&nodes.page, &[NodeId::ROOT]))
}

/// `count(nodes)`
fn count<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    Ok(Value::new_number(args.ctx.clone(), Nodes::from_args(args)?.ids.len() as f64))
}

/// `index(nodes, others?)`: where the first of the others stands among the nodes, or the first node among its siblings;
/// -1 where it does not.
fn index<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let nodes = Nodes::from_args(args)?;
    let place = match given_nodes(&args.get(1)) {
        None => nodes.first().map(|id| nodes.page.index(id)),
        Some(others) => {
            let others = others.borrow();
            let first = others.first().filter(|_| Rc::ptr_eq(&others.page, &nodes.page));
            first.and_then(|first| nodes.ids.iter().position(|id| *id == first))
        }
    };
    Ok(Value::new_number(args.ctx.clone(), place.map_or(-1.0, |place| place as f64)))
}

/// `text(nodes)`: the text of all of them.
fn text<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let nodes = Nodes::from_args(args)?;
    let mut text = String::new();
    nodes.ids.iter().for_each(|id| nodes.page.push_text(*id, &mut text));
    give_text(args, &text)
}

/// `html(nodes)`: what is in the first.
fn inner_html<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let nodes = Nodes::from_args(args)?;
    give_text(args, &nodes.first().map_or_else(String::new, |id| nodes.page.inner_html(id)))
}

/// `name(nodes)`: of the first element; empty where there is none.
fn name<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let nodes = Nodes::from_args(args)?;
    give_text(args, nodes.first().map_or("", |id| nodes.page.name(id)))
}

/// `attribute(nodes, name)`: of the first.
fn attribute<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let (nodes, name) = (Nodes::from_args(args)?, args.string(1)?);
    give_text_of(args, nodes.first().and_then(|id| nodes.page.attribute(id, &name)))
}

/// `attributes(nodes)`: names and values of the first's, alternating.
fn attributes<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let nodes = Nodes::from_args(args)?;
    let all = Array::new(args.ctx.clone())?;
    let pairs = nodes.first().into_iter().flat_map(|id| nodes.page.attributes(id));
    for (index, text) in pairs.flat_map(|(name, value)| [name, value]).enumerate() {
        all.set(index, text)?;
    }
    Ok(all.into_value())
}

/// `data(text)`: what the text of a `data-*` attribute means.
fn data<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let ctx = args.ctx;
    let text = args.string(0)?;
    match data_value(&text) {
        DataValue::Undefined => args.undefined(),
        DataValue::Bool(value) => Ok(Value::new_bool(ctx.clone(), value)),
        DataValue::Number(number) => Ok(Value::new_number(ctx.clone(), number)),
        DataValue::Json(json) => ctx.json_parse(json).or_else(|_| {
            ctx.catch();
            give_text(args, json)
        }),
        DataValue::Text(text) => give_text(args, text),
    }
}

/// `kind(nodes)`: the DOM's number for what the first is; 0 where there is none.
fn kind<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let nodes = Nodes::from_args(args)?;
    let number = nodes.first().map_or(0, |id| match nodes.page.kind(id) {
        Kind::Element => 1,
        Kind::Text => 3,
        Kind::Comment => 8,
        Kind::Document => 9,
        Kind::Doctype => 10,
    });
    Ok(Value::new_int(args.ctx.clone(), number))
}

/// `linked(nodes, which)`: a neighbour of the first, of whatever kind, or nothing.
fn linked<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let (nodes, which) = (Nodes::from_args(args)?, args.string(1)?);
    let page = &nodes.page;
    let found = nodes.first().and_then(|id| match which.as_str() {
        "parent" => page.parent(id),
        "next" => page.next(id),
        "previous" => page.previous(id),
        "first" => page.children(id).next(),
        _ => page.children(id).last(),
    });
    nodes.with(args.ctx, found.into_iter().collect())
}

/// `root(nodes)`: the document.
fn root<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    Nodes::from_args(args)?.with(args.ctx, vec![NodeId::ROOT])
}

/// `namespace(nodes)`: of the first.
fn namespace<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let nodes = Nodes::from_args(args)?;
    give_text(args, nodes.first().map_or("", |id| nodes.page.namespace(id)))
}

/// `ownText(nodes)`: of a text node or a comment.
fn own_text<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let nodes = Nodes::from_args(args)?;
    give_text_of(args, nodes.first().and_then(|id| nodes.page.own_text(id)))
}

/// `resolve(url, reference)`: what the reference names, seen from a page at the URL; itself where that is nothing that
/// can be requested, or where the page has no URL.
pub(crate) fn resolve<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let (url, reference) = (args.string(0)?, args.string(1)?);
    let target = wire::Target::parse(&url).and_then(|base| base.join(&reference));
    let Ok(target) = target else { return give_text(args, &reference) };
    let fragment = reference.find('#').map_or("", |at| &reference[at..]);
    let known = target.as_str();
    let fragment = if known.contains('#') { "" } else { fragment };
    give_text(args, &format!("{known}{fragment}"))
}
