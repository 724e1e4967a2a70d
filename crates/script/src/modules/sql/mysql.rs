//! `k6/x/sql/driver/mysql`: the driver's name, and TLS settings of the script's own.

use std::rc::Rc;

use datastore::Tls;
use datastore::sql::CUSTOM_TLS;
use rquickjs::{Ctx, Object, Value};

use super::DRIVER;
use crate::js::registry::Builtin;
use crate::js::{self, Args};
use crate::opening;
use crate::state::VuState;

pub(crate) const DRIVER_MODULE: Builtin = Builtin { name: "k6/x/sql/driver/mysql", build };

/// Versions of TLS, as the module's constants name them.
const VERSIONS: &[(&str, &str)] =
    &[("TLS_1_0", "tls1.0"), ("TLS_1_1", "tls1.1"), ("TLS_1_2", "tls1.2"), ("TLS_1_3", "tls1.3")];

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set(DRIVER, "mysql")?;
    for (name, version) in VERSIONS {
        module.set(*name, *version)?;
    }
    js::set_natives(&module, vu, &[("loadTLS", load_tls), ("addTLS", add_tls)])?;
    Ok(module)
}

/// `loadTLS({ enableTLS, insecureSkipTLSverify, minVersion, caCertFile, clientCertFile, clientKeyFile })`: the settings of data
/// sources that `addTLS()` returns. Versions are those of the run's options.
fn load_tls<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let given = args.get(0);
    let Some(given) = given.as_object() else {
        return Err(args.type_error("loadTLS() takes an object of settings"));
    };
    let flag = |name: &str| given.get::<_, Value<'js>>(name).map(|value| js::to_bool(&value));
    if !flag("enableTLS")? {
        *args.vu.mysql_tls.borrow_mut() = None;
        return args.undefined();
    }
    let file = |name: &str| -> rquickjs::Result<Option<String>> {
        let value: Value<'js> = given.get(name)?;
        if !value.is_string() {
            return Ok(None);
        }
        let path = js::to_string(args.ctx, &value)?;
        if path.is_empty() {
            return Ok(None);
        }
        let bytes = opening::read(args, &path).map_err(|error| args.error(format!("{name}: {error}")))?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    };
    let identity = match (file("clientCertFile")?, file("clientKeyFile")?) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        _ => return Err(args.error("loadTLS() needs clientCertFile and clientKeyFile together, or neither")),
    };
    let authorities = file("caCertFile")?.into_iter().collect();
    let accepts_anyone = flag("insecureSkipTLSverify")?;
    *args.vu.mysql_tls.borrow_mut() = Some(Tls { authorities, identity, accepts_anyone });
    args.undefined()
}

/// `addTLS(dataSourceName)`: the same with the settings of `loadTLS()`.
fn add_tls<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let name = args.string(0)?;
    if args.vu.mysql_tls.borrow().is_none() {
        return js::string_from_bytes(args.ctx, name.as_bytes());
    }
    let has_parameters = name.rsplit_once('/').is_some_and(|(_, database)| database.contains('?'));
    let joint = if has_parameters { '&' } else { '?' };
    js::string_from_bytes(args.ctx, format!("{name}{joint}tls={CUSTOM_TLS}").as_bytes())
}
