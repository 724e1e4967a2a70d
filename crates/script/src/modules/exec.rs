//! `k6/x/exec`: programs of this machine, where the user allows them.

mod program;

use std::rc::Rc;

use rquickjs::{Ctx, Exception, Object, Value};

use self::program::{Ended, Failure, Program};
use crate::error::unwind;
use crate::js::registry::Builtin;
use crate::js::{self, Args};
use crate::opening::{self, Caller};
use crate::state::VuState;
use crate::state::stop::StopReason;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/x/exec", build };

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    js::set_natives(&module, vu, &[("command", command)])?;
    Ok(module)
}

/// How a script wants a program's end.
#[derive(Default)]
struct Wishes {
    /// Whether a failure is an exception; otherwise it ends the test.
    continues: bool,
    /// Whether the exception has the output.
    includes_stdout: bool,
}

/// `command(program, arguments, options)`: runs a program and returns its output.
fn command<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    if let Err(text) = may_run(args) {
        return abort(args, &text);
    }
    let (program, wishes) = read(args)?;
    let name = program.name.clone();
    let ended = match args.vu.is_running() {
        false => program.run(),
        true => {
            let done = vu::block_on(std::pin::pin!(program.run_elsewhere()));
            args.vu.step_ended();
            match done {
                Ok(ended) => ended,
                Err(vu::Interrupted) => return Err(unwind(args.ctx, &args.vu.stop, StopReason::Interrupted)),
            }
        }
    };
    match ended {
        Ok(ended) if ended.status.success() => js::string_from_bytes(args.ctx, &ended.stdout),
        Ok(ended) if wishes.continues => Err(throw_ended(args, &ended, wishes.includes_stdout)?),
        Err(failure) if wishes.continues || !matches!(failure, Failure::Start(_)) => {
            Err(args.error(failure.to_string()))
        }
        Ok(ended) => abort(args, &format!("{} on command: {name}", ended.story())),
        Err(failure) => abort(args, &format!("{failure} on command: {name}")),
    }
}

/// # Errors
/// A text for the user: the run does not allow programs, or code from elsewhere asks.
fn may_run(args: &Args<'_, '_>) -> Result<(), String> {
    if !args.vu.init.allows_exec {
        return Err("k6/x/exec runs programs on this machine, which is not allowed; add --allow-exec to `plimsoll run` if \
                    you trust the script. Agents never run programs"
            .to_owned());
    }
    match opening::origin(args.ctx, args.vu) {
        Caller::Local => Ok(()),
        Caller::Remote(url) => Err(format!(
            "the remote module {url} asks to run a program on this machine, which remote modules may not; run it in a \
             local module"
        )),
        Caller::Unknown => Err("code that belongs to no local module asks to run a program on this machine, and the \
                                script has loaded remote modules, which may not; call command() in a local module"
            .to_owned()),
    }
}

/// Ends the test, as `test.abort()` does. In the init context it is an exception.
fn abort<'js>(args: &Args<'_, 'js>, text: &str) -> rquickjs::Result<Value<'js>> {
    let Some(binding) = args.vu.binding().filter(|_| args.vu.is_running()) else {
        return Err(args.error(text));
    };
    let reason = format!("test aborted: {text}");
    *args.vu.abort_reason.borrow_mut() = Some(reason.clone());
    binding.run.control.abort(&reason);
    Err(unwind(args.ctx, &args.vu.stop, StopReason::Aborted))
}

fn read(args: &Args<'_, '_>) -> rquickjs::Result<(Program, Wishes)> {
    let name = args.string(0)?;
    let mut program = Program { name, ..Program::default() };
    if let Some(list) = args.given(1) {
        let Some(list) = list.as_array() else {
            return Err(args.type_error("the second argument of command() is no array of arguments"));
        };
        program.arguments = texts(args, list)?;
    }
    let mut wishes = Wishes::default();
    let options = args.given(2);
    let Some(options) = options.as_ref().and_then(Value::as_object) else { return Ok((program, wishes)) };
    let flag = |name: &str| options.get::<_, Value<'_>>(name).map(|value| js::to_bool(&value));
    wishes.continues = flag("continue_on_error")?;
    wishes.includes_stdout = flag("include_stdout_on_error")?;
    program.combines_output = flag("combine_output")?;
    let directory: Value<'_> = options.get("dir")?;
    if directory.is_string() {
        program.directory = Some(js::to_string(args.ctx, &directory)?).filter(|text| !text.is_empty());
    }
    let env: Value<'_> = options.get("env")?;
    if let Some(list) = env.as_array() {
        program.env = texts(args, list)?;
    }
    Ok((program, wishes))
}

fn texts<'js>(args: &Args<'_, 'js>, list: &rquickjs::Array<'js>) -> rquickjs::Result<Vec<String>> {
    let text = |value: rquickjs::Result<Value<'js>>| match value? {
        // As k6 passes them.
        nothing if nothing.is_null() || nothing.is_undefined() => Ok(String::new()),
        value => js::to_string(args.ctx, &value),
    };
    list.iter::<Value<'js>>().map(text).collect()
}

/// The exception of a program that failed, with its end in the property `value`, as k6 has it.
fn throw_ended<'js>(
    args: &Args<'_, 'js>,
    ended: &Ended,
    includes_stdout: bool,
) -> rquickjs::Result<rquickjs::Error> {
    let ctx = args.ctx;
    let error = Exception::from_message(ctx.clone(), &ended.story())?.into_object();
    error.set("name", "GoError")?;
    let value = Object::new(ctx.clone())?;
    value.set("process_state", process_state(ctx, ended)?)?;
    value.set("stderr", ended.stderr.clone())?;
    if includes_stdout {
        value.set("stdout", ended.stdout.clone())?;
    }
    error.set("value", value)?;
    Ok(ctx.throw(error.into_value()))
}

fn process_state<'js>(ctx: &Ctx<'js>, ended: &Ended) -> rquickjs::Result<Object<'js>> {
    let state = Object::new(ctx.clone())?;
    let (code, is_success, id) = (ended.status.code(), ended.status.success(), ended.id);
    let hide = |name: &str, function: rquickjs::Function<'js>| {
        let descriptor = Object::new(ctx.clone())?;
        descriptor.set("value", function.with_name(name)?)?;
        js::define_property(&state, name, descriptor)
    };
    hide("exitCode", js::closure(ctx, move || code.unwrap_or(-1))?)?;
    hide("success", js::closure(ctx, move || is_success)?)?;
    hide("exited", js::closure(ctx, move || code.is_some())?)?;
    hide("pid", js::closure(ctx, move || id)?)?;
    // What the kernel counted of the program is not known here.
    hide("sysUsage", js::closure(ctx, |ctx: Ctx<'js>| Value::new_null(ctx))?)?;
    let story = ended.story();
    hide(
        "string",
        js::closure(ctx, {
            let story = story.clone();
            move || story.clone()
        })?,
    )?;
    hide("toString", js::closure(ctx, move || story.clone())?)?;
    Ok(state)
}
