//! Correlation by value: a value that a response returned and a later request sent is extracted and used.
//!
//! Two kinds of values count. A *distinctive* one (a token, a UUID, a long number) is looked for in everything that came before. A
//! short one (`17`) counts only if both places name the same thing: `/orders/17` after a response to `POST /orders` with an `id` of 17.
//! A value that the client sent before any response had it is the client's own.

mod boundary;
mod producers;
mod slots;
mod words;

use rustc_hash::FxHashMap;

use crate::js;
use crate::plan::{Call, Capture, Plan, unused};
use crate::text::Text;
use producers::Producers;
pub(crate) use producers::canonical;
use slots::{Slot, each_slot};

/// A request and what was recorded of its response.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    pub(crate) call: Call,
    pub(crate) response: Response,
}

/// The parts of a response that are searched for values.
#[derive(Debug, Default)]
pub(crate) struct Response {
    pub(crate) content_type: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// The last address of redirects; empty if there was none.
    pub(crate) final_url: String,
    /// Cookies of this response and of the redirects before it.
    pub(crate) cookies: Vec<(String, String)>,
}

/// Replaces values that responses returned. Returns the variables that hold them.
pub(crate) fn correlate(exchanges: &mut [Exchange], plan: &Plan) -> Vec<String> {
    let slots = collect(exchanges);
    let producers = Producers::search(exchanges, &slots);
    let mut variables: Vec<String> = Vec::new();
    let mut captured: FxHashMap<(usize, String), Text> = FxHashMap::default();
    let mut replacements: FxHashMap<(usize, usize), Text> = FxHashMap::default();
    for slot in &slots {
        let Some(producer) = producers.of(slot, &slots) else { continue };
        let code = producer.code.clone();
        let variable = captured.entry((producer.exchange, code.clone())).or_insert_with(|| {
            let wish = js::camel_case(&producer.name, "value");
            let name = unused(&wish, |name| {
                variables.iter().any(|taken| taken == name) || plan.free_name(name) != name
            });
            variables.push(name.clone());
            exchanges[producer.exchange].call.captures.push(Capture { variable: name.clone(), code });
            Text::code(name)
        });
        replacements.insert((slot.exchange, slot.number), variable.clone());
    }
    for (nth, exchange) in exchanges.iter_mut().enumerate() {
        each_slot(&mut exchange.call, &mut |number, _, _, _| replacements.get(&(nth, number)).cloned());
    }
    variables
}

fn collect(exchanges: &mut [Exchange]) -> Vec<Slot> {
    let mut slots = Vec::new();
    for (nth, exchange) in exchanges.iter_mut().enumerate() {
        each_slot(&mut exchange.call, &mut |number, kind, name, value| {
            slots.push(Slot { exchange: nth, number, kind, name: name.to_owned(), value: value.to_owned() });
            None
        });
    }
    slots
}
