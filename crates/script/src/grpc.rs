//! `k6/net/grpc`: calls of services whose types a script loads or a server describes.

mod call;
mod client;
mod connect;
mod load;
mod metadata;
mod params;
mod reflect;
mod response;
mod samples;
mod session;
mod status;
mod stream;
mod trace;

use std::rc::Rc;

use rquickjs::{Ctx, Object};

use crate::js::prelude::Prelude;
use crate::js::registry::Builtin;
use crate::js::{self, NativeFn, lazy};
use crate::state::VuState;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/net/grpc", build };

static PRELUDE: Prelude = Prelude::new("k6/net/grpc", include_str!("../js/grpc.js"));

const NATIVES: &[(&str, NativeFn)] = &[
    ("warn", stream::warn),
    ("start", stream::start),
    ("write", stream::write),
    ("end", stream::end),
    ("fail", stream::fail),
    ("notCallable", stream::not_callable),
];

/// The names of a service's health; the last is k6's spelling.
const HEALTH: [(&str, u32); 4] = [
    ("HealthCheckUnknown", 0),
    ("HealthCheckServing", 1),
    ("HealthCheckNotServing", 2),
    ("HealthCheckServiceUnkown", 3),
];

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    lazy::prepare::<response::Answer>(ctx, vu)?;
    let module = PRELUDE.run(ctx, vu, NATIVES)?.into_object().ok_or(rquickjs::Error::Exception)?;
    module.set("Client", js::constructor(ctx, vu, "Client", client::construct)?)?;
    for (name, number) in grpc::Code::ALL.into_iter().chain(HEALTH) {
        module.set(name, number)?;
    }
    Ok(module)
}
