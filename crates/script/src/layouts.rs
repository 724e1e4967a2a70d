//! Layouts of objects that are made again and again, kept so that the engine finds them (see [`crate::shapes`]): those that JSON texts
//! describe, and the conditions of checks.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use rquickjs::object::Property;
use rquickjs::{Object, Persistent, Value};
use rustc_hash::FxHasher;

/// Layouts that are kept per VU: those of a few kinds of responses, or of checks.
const KEPT_MAX: usize = 8;

/// Members of such an object.
const MEMBERS_MAX: u32 = 16;

/// Layouts of objects that came again, with the same names in the same order.
#[derive(Default)]
pub(crate) struct Layouts {
    /// The kept layout that came last: most objects of an iteration are made like those of the one before.
    last: Cell<u64>,
    known: RefCell<Known>,
}

#[derive(Default)]
struct Known {
    /// Names that came once, the latest first.
    seen: VecDeque<u64>,
    kept: Vec<u64>,
    /// A specimen of each step to each kept layout.
    specimens: Vec<Persistent<Object<'static>>>,
}

/// The names of an object in their order, as one number. Two layouts with one number cost time and nothing else.
#[derive(Default)]
pub(crate) struct Names {
    hasher: FxHasher,
    count: u32,
}

impl Names {
    /// Adds a name.
    pub(crate) fn push(&mut self, name: &str) {
        name.hash(&mut self.hasher);
        self.count += 1;
    }

    /// Adds the engine's number of a name. A number may come to mean another name while the layout is not kept.
    pub(crate) fn push_number(&mut self, number: u32) {
        number.hash(&mut self.hasher);
        self.count += 1;
    }
}

impl Layouts {
    /// Notes an object that was just made, and keeps its layout if it came before.
    pub(crate) fn note(&self, object: &Object<'_>, names: &Names) -> rquickjs::Result<()> {
        let hash = names.hasher.finish();
        if self.last.get() == hash || !(1..=MEMBERS_MAX).contains(&names.count) {
            return Ok(());
        }
        let known = &mut *self.known.borrow_mut();
        if known.kept.contains(&hash) {
            self.last.set(hash);
            return Ok(());
        }
        if !known.seen.contains(&hash) {
            known.seen.truncate(KEPT_MAX - 1);
            known.seen.push_front(hash);
            return Ok(());
        }
        if known.kept.len() >= KEPT_MAX {
            return Ok(());
        }
        known.kept.push(hash);
        // A proxy would run code of the script when it is asked for its names.
        if object.is_proxy() {
            return Ok(());
        }
        let ctx = object.ctx();
        let members: Vec<String> = object.keys::<String>().collect::<rquickjs::Result<_>>()?;
        for steps in 1..=members.len() {
            let specimen = Object::new(ctx.clone())?;
            for name in &members[..steps] {
                let value = Property::from(Value::new_undefined(ctx.clone()));
                // Defined, not set: a setter of the script would run in the middle of this.
                specimen.prop(name.as_str(), value.configurable().enumerable().writable())?;
            }
            known.specimens.push(Persistent::save(ctx, specimen));
        }
        Ok(())
    }

    /// Lets go of all specimens, before the context ends.
    pub(crate) fn clear(&self) {
        self.last.set(0);
        *self.known.borrow_mut() = Known::default();
    }
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Runtime};

    use super::*;

    /// Notes what an expression makes three times; returns how many specimens are kept.
    fn specimens_of(expression: &str) -> usize {
        let context = Context::full(&Runtime::new().expect("memory")).expect("memory");
        context.with(|ctx| {
            let layouts = Layouts::default();
            for _ in 0..3 {
                let object: Object<'_> = ctx.eval(expression).expect("an object");
                let mut names = Names::default();
                (1..=2).for_each(|number| names.push_number(number));
                layouts.note(&object, &names).expect("noted");
            }
            let kept = layouts.known.borrow().specimens.len();
            layouts.clear();
            kept
        })
    }

    #[test]
    fn each_step_of_a_layout_is_kept_when_it_comes_again() {
        assert_eq!(specimens_of("({ 'status is 200': 1, 'body is there': 2 })"), 2);
    }

    #[test]
    fn a_proxy_is_asked_for_nothing() {
        let throws = "() => { throw new Error('asked') }";
        let expression = format!("new Proxy({{}}, {{ ownKeys: {throws}, get: {throws} }})");
        assert_eq!(specimens_of(&expression), 0);
    }
}
