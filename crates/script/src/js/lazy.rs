//! Objects whose fields become JavaScript values when they are first read: most scripts look at few of them.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::class::{
    ClassKind, JsCell, JsClass, PropertyDescriptor, PropertyName, Readable, Trace, Tracer,
};
use rquickjs::{Atom, Class, Ctx, JsLifetime, Object, Persistent, Value};

use super::NativeFn;
use crate::state::VuState;
use crate::state::kinds::{FIELDS_MAX, Kind};

/// Capacity for fields, so that most scripts need no second allocation.
const FIELDS_READ_USUALLY: usize = 3;

/// The fields and functions that such an object shows.
pub(crate) trait Fields: Sized + 'static {
    /// The name of the class.
    const NAME: &'static str;

    /// The names of the fields, in the order in which they are shown; [`FIELDS_MAX`] at most.
    const FIELDS: &'static [&'static str];

    /// Functions of the prototype; they are shown among the object's own properties, as k6 does.
    const METHODS: &'static [(&'static str, NativeFn)];

    /// Returns the facts that a VU keeps about this kind of object.
    fn kind(vu: &VuState) -> &Kind;

    /// Makes the value of a field.
    fn make<'js>(&self, ctx: &Ctx<'js>, field: &str) -> rquickjs::Result<Value<'js>>;
}

/// Learns the engine's numbers of the names; the names live as long as the VU.
pub(crate) fn prepare<'js, F: Fields>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<()> {
    let holder = Object::new(ctx.clone())?;
    let mut atoms = [0; FIELDS_MAX];
    for (atom, name) in atoms.iter_mut().zip(F::FIELDS) {
        holder.set(*name, true)?;
        *atom = super::atom_number(&Atom::from_str(ctx.clone(), name)?);
    }
    let kind = F::kind(vu);
    kind.atoms.set(atoms);
    *kind.names.borrow_mut() = Some(Persistent::save(ctx, holder));
    if let Some(prototype) = Class::<Lazy<'js, F>>::prototype(ctx)? {
        super::set_natives(&prototype, vu, F::METHODS)?;
    }
    Ok(())
}

/// An object with these fields.
pub(crate) fn object<'js, F: Fields>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    fields: F,
) -> rquickjs::Result<Value<'js>> {
    let object = Lazy {
        fields,
        vu: vu.clone(),
        values: RefCell::new(Vec::with_capacity(FIELDS_READ_USUALLY)),
        extra: RefCell::default(),
    };
    let known = F::kind(vu).prototype.borrow().clone();
    let prototype = match known {
        Some(known) => known.restore(ctx)?,
        None => prototype::<F>(ctx, vu)?,
    };
    Ok(Class::instance_proto(object, prototype)?.into_value())
}

fn prototype<'js, F: Fields>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let found = Class::<Lazy<'js, F>>::prototype(ctx)?.ok_or(rquickjs::Error::Unknown)?;
    let specimen = super::object_with_prototype(ctx, &found)?;
    *F::kind(vu).specimen.borrow_mut() = Some(Persistent::save(ctx, specimen));
    *F::kind(vu).prototype.borrow_mut() = Some(Persistent::save(ctx, found.clone()));
    Ok(found)
}

/// The JavaScript object.
pub(crate) struct Lazy<'js, F> {
    fields: F,
    vu: Rc<VuState>,
    /// The fields that were read or set, by their place in [`Fields::FIELDS`]: two, usually.
    values: RefCell<Vec<(u8, Value<'js>)>>,
    /// Properties that the script has set itself.
    extra: RefCell<Option<Object<'js>>>,
}

#[expect(unsafe_code, reason = "the binding asks for it of every class")]
// SAFETY: the type is the same but for the lifetime of the values in it; `F` has none.
unsafe impl<'js, F: Fields> JsLifetime<'js> for Lazy<'js, F> {
    type Changed<'to> = Lazy<'to, F>;
}

impl<'js, F> Trace<'js> for Lazy<'js, F> {
    fn trace<'a>(&self, tracer: Tracer<'a, 'js>) {
        for (_, value) in &*self.values.borrow() {
            tracer.mark(value);
        }
        if let Some(extra) = &*self.extra.borrow() {
            tracer.mark(extra.as_value());
        }
    }
}

impl<'js, F: Fields> JsClass<'js> for Lazy<'js, F> {
    const NAME: &'static str = F::NAME;
    const KIND: ClassKind = ClassKind::Exotic;
    type Mutable = Readable;

    fn constructor(_ctx: &Ctx<'js>) -> rquickjs::Result<Option<rquickjs::function::Constructor<'js>>> {
        Ok(None)
    }

    fn exotic_get_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
        _receiver: Value<'js>,
    ) -> rquickjs::Result<Value<'js>> {
        let object = this.borrow();
        match object.own(ctx, &atom)? {
            Some(value) => Ok(value),
            None => match Class::<Lazy<'js, F>>::prototype(ctx)? {
                Some(prototype) => prototype.get(atom),
                None => Ok(Value::new_undefined(ctx.clone())),
            },
        }
    }

    fn exotic_set_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
        _receiver: Value<'js>,
        value: Value<'js>,
    ) -> rquickjs::Result<bool> {
        let object = this.borrow();
        if let Some(index) = object.field(&atom) {
            object.keep(index, value);
            return Ok(true);
        }
        object.extra(ctx)?.set(atom, value)?;
        Ok(true)
    }

    fn exotic_delete_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
    ) -> rquickjs::Result<bool> {
        let object = this.borrow();
        if let Some(index) = object.field(&atom) {
            object.keep(index, Value::new_undefined(ctx.clone()));
            return Ok(true);
        }
        object.extra(ctx)?.remove(atom)?;
        Ok(true)
    }

    fn exotic_has_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
    ) -> rquickjs::Result<bool> {
        let object = this.borrow();
        if object.field(&atom).is_some() {
            return Ok(true);
        }
        let name = atom.to_value()?;
        if object.extra(ctx)?.contains_key(name.clone())? {
            return Ok(true);
        }
        match Class::<Lazy<'js, F>>::prototype(ctx)? {
            Some(prototype) => prototype.contains_key(name),
            None => Ok(false),
        }
    }

    fn exotic_get_own_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
    ) -> rquickjs::Result<Option<PropertyDescriptor<'js>>> {
        let value = this.borrow().own(ctx, &atom)?;
        Ok(value.map(|value| PropertyDescriptor::new_value(value, true, true, true)))
    }

    fn exotic_get_own_property_names(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
    ) -> rquickjs::Result<Vec<PropertyName<'js>>> {
        let mut names = Vec::with_capacity(F::FIELDS.len() + F::METHODS.len());
        for name in F::FIELDS.iter().copied().chain(F::METHODS.iter().map(|(name, _)| *name)) {
            names.push(PropertyName { atom: Atom::from_str(ctx.clone(), name)?, is_enumerable: true });
        }
        let extra = this.borrow().extra.borrow().clone();
        for name in extra.iter().flat_map(|extra| extra.keys::<String>()) {
            names.push(PropertyName { atom: Atom::from_str(ctx.clone(), &name?)?, is_enumerable: true });
        }
        Ok(names)
    }
}

impl<'js, F: Fields> Lazy<'js, F> {
    /// Returns the fields behind the object.
    pub(crate) fn fields(&self) -> &F {
        &self.fields
    }

    fn field(&self, atom: &Atom<'js>) -> Option<usize> {
        let number = super::atom_number(atom);
        F::kind(&self.vu).atoms.get().iter().position(|known| *known == number)
    }

    /// The value of a field that was read or set before.
    fn kept(&self, index: usize) -> Option<Value<'js>> {
        let values = self.values.borrow();
        values.iter().find(|(known, _)| usize::from(*known) == index).map(|(_, value)| value.clone())
    }

    fn keep(&self, index: usize, value: Value<'js>) {
        let mut values = self.values.borrow_mut();
        match values.iter_mut().find(|(known, _)| usize::from(*known) == index) {
            Some((_, known)) => *known = value,
            None => values.push((index as u8, value)),
        }
    }

    fn extra(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
        let mut extra = self.extra.borrow_mut();
        if let Some(extra) = &*extra {
            return Ok(extra.clone());
        }
        let object = Object::new(ctx.clone())?;
        object.set_prototype(None)?;
        Ok(extra.insert(object).clone())
    }

    fn own(&self, ctx: &Ctx<'js>, atom: &Atom<'js>) -> rquickjs::Result<Option<Value<'js>>> {
        let Some(index) = self.field(atom) else {
            let extra = self.extra.borrow().clone();
            let name = atom.to_value()?;
            if let Some(extra) = extra
                && extra.contains_key(name.clone())?
            {
                return extra.get(name).map(Some);
            }
            let is_method = F::METHODS.iter().any(|(known, _)| {
                name.as_string().is_some_and(|name| name.to_string().is_ok_and(|name| name == *known))
            });
            return match Class::<Lazy<'js, F>>::prototype(ctx)? {
                Some(prototype) if is_method => prototype.get(name).map(Some),
                _ => Ok(None),
            };
        };
        if let Some(value) = self.kept(index) {
            return Ok(Some(value));
        }
        let value = self.fields.make(ctx, F::FIELDS[index])?;
        // A number costs as little to make as to keep.
        if !value.is_number() {
            self.keep(index, value.clone());
        }
        Ok(Some(value))
    }
}
