//! Layouts of objects that JSON texts describe again and again, kept so that the engine finds them (see [`crate::shapes`]).

use std::cell::RefCell;
use std::collections::VecDeque;

use rquickjs::{Object, Persistent, Value};

/// Layouts of parsed objects that are kept per VU: those of a few kinds of responses.
const PARSED_MAX: usize = 8;

/// Members of such an object.
const MEMBERS_MAX: u32 = 16;

/// Layouts of parsed objects that came again. Texts of one kind describe objects with the same names in the same order.
#[derive(Default)]
pub(crate) struct ParsedLayouts {
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
#[derive(Clone, Copy)]
pub(crate) struct Names {
    hash: u64,
    count: u32,
}

impl Names {
    /// No names.
    pub(crate) const NONE: Names = Names { hash: 0xcbf2_9ce4_8422_2325, count: 0 };

    /// The same with one more name (FNV-1a, with the end of each name).
    pub(crate) fn and(self, name: &str) -> Names {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Names { hash: name.bytes().chain([0xff]).fold(self.hash, step), count: self.count + 1 }
    }
}

impl ParsedLayouts {
    /// Notes an object that was just parsed, and keeps its layout if it came before.
    pub(crate) fn note(&self, object: &Object<'_>, names: Names) -> rquickjs::Result<()> {
        let known = &mut *self.known.borrow_mut();
        if !(1..=MEMBERS_MAX).contains(&names.count) || known.kept.contains(&names.hash) {
            return Ok(());
        }
        if !known.seen.contains(&names.hash) {
            known.seen.truncate(PARSED_MAX - 1);
            known.seen.push_front(names.hash);
            return Ok(());
        }
        if known.kept.len() >= PARSED_MAX {
            return Ok(());
        }
        known.kept.push(names.hash);
        let ctx = object.ctx();
        let members: Vec<String> = object.keys::<String>().collect::<rquickjs::Result<_>>()?;
        for steps in 1..=members.len() {
            let specimen = Object::new(ctx.clone())?;
            for name in &members[..steps] {
                specimen.set(name, Value::new_undefined(ctx.clone()))?;
            }
            known.specimens.push(Persistent::save(ctx, specimen));
        }
        Ok(())
    }

    /// Lets go of all specimens, before the context ends.
    pub(crate) fn clear(&self) {
        *self.known.borrow_mut() = Known::default();
    }
}
