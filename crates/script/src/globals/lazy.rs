//! Globals that are made when a script first asks for them, because most scripts never do and every VU would pay. See
//! [`crate::js::scope`] for how.

use std::rc::Rc;

use rquickjs::{Ctx, Value};

use crate::state::VuState;

/// A global of this kind.
pub(crate) struct Lazy {
    pub(crate) name: &'static str,
    pub(crate) build: for<'js> fn(&Ctx<'js>, &Rc<VuState>) -> rquickjs::Result<Value<'js>>,
}

/// All of them, one line each.
pub(crate) const ALL: &[Lazy] = &[
    super::text::ENCODER,
    super::text::DECODER,
    super::blob::BLOB,
    super::blob::FILE,
    super::clone::CLONE,
    super::events::ABORT_CONTROLLER,
    super::events::ABORT_SIGNAL,
    super::events::CUSTOM_EVENT,
    super::events::EVENT,
    super::events::TARGET,
    super::performance::PERFORMANCE,
    super::url::SEARCH_PARAMS,
    super::url::URL,
];
