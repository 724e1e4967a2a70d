//! Prepares a test from a script's path.

use std::sync::Arc;

use model::MetricRegistry;
use model::plan::{Compat, Plan};
use plan::{CliOptions, Level, LoadLimits, Options, ResolveContext, consolidate, resolve, vu_demand};
use runs::{Exit, Failure};
use script::{Bundle, Entry, ScriptError, Settings};
use tally::Thresholds;

use crate::context::{Context, plan_failure, refuse_first};
use crate::env::Environment;
use crate::program;
use crate::source::Source;

/// The default `User-Agent` header.
const USER_AGENT: &str = concat!("plimsoll/", env!("CARGO_PKG_VERSION"));

/// A script that was evaluated once.
pub struct Script {
    /// The script's text and name.
    pub source: Source,
    /// The evaluated script.
    pub bundle: Arc<Bundle>,
    /// The script's metrics.
    pub metrics: Arc<MetricRegistry>,
}

impl Script {
    /// Evaluates a script.
    ///
    /// # Errors
    /// An import is missing, or the script throws.
    pub fn load(
        source: Source,
        context: &Context,
        env: std::collections::BTreeMap<String, String>,
    ) -> Result<Script, Failure> {
        let metrics = Arc::<MetricRegistry>::default();
        let entry = Entry { path: source.path.clone(), text: source.text.clone() };
        let outside = source.outside();
        let (log, secrets) = (context.logger.clone(), context.secrets.clone());
        let memory = source.memory.limits();
        let (allows_exec, compat) = (source.allows_exec, source.compat);
        let settings =
            Settings { env, metrics: metrics.clone(), log, secrets, outside, memory, allows_exec, compat };
        let bundle = Bundle::load(entry, settings);
        // Also before an error, because notes may be its cause.
        source.tell_notes(context);
        let bundle = bundle.map_err(|error| {
            invalid_directive(&source, &error).unwrap_or_else(|| program::load_failure(&source.name, &error))
        })?;
        for (module, names) in bundle.undefined_imports() {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let text = format!("{module} has no export {}: it is undefined, as in k6", names.join(", "));
            context.logger.say(model::LogLevel::Warn, text);
        }
        source.write_lock(context)?;
        Ok(Script { source, bundle: Arc::new(bundle), metrics })
    }

    /// Returns the directives of all its files.
    ///
    /// # Errors
    /// A directive cannot be parsed.
    pub fn asked(&self) -> Result<script::Asked, Failure> {
        let modules = self.bundle.modules();
        let asked = script::asked(modules.iter().map(|(url, text)| (&**url, &**text)));
        asked.map_err(|error| directive_failure(&error))
    }

    /// Returns the script's `options`.
    ///
    /// # Errors
    /// The options cannot be parsed.
    pub fn options(&self, context: &Context) -> Result<Options, Failure> {
        let text = self.source.options_json().or(self.bundle.options_json()).unwrap_or("null");
        let (options, warnings) = Options::from_script_json(text).map_err(|error| plan_failure(&error))?;
        context.warn_all(&warnings);
        Ok(options)
    }

    /// Returns the merged options of all sources.
    ///
    /// # Errors
    /// The options of a source cannot be parsed.
    pub fn merged_options(
        &self,
        context: &Context,
        cli: &CliOptions,
        compat: Compat,
    ) -> Result<Options, Failure> {
        let of_env = Options::from_env(context.env.all()).map_err(|error| plan_failure(&error))?;
        let of_cli = Options::from_cli(cli).map_err(|error| plan_failure(&error))?;
        let sources = [
            (Level::ConfigFile, context.config.clone()),
            (Level::Script, self.options(context)?),
            (Level::Environment, of_env),
            (Level::CommandLine, of_cli),
        ];
        let (mut options, warnings) = consolidate(&sources, compat);
        context.warn_all(&warnings);
        if let Some(load) = &cli.constant {
            options.make_constant(load).map_err(|error| plan_failure(&error))?;
        }
        Ok(options)
    }

    /// Returns the plan of merged options.
    ///
    /// # Errors
    /// The options are invalid.
    pub fn plan(&self, context: &Context, options: Options, compat: Compat) -> Result<Plan, Failure> {
        let resolving = ResolveContext {
            exports: Some(self.bundle.exports()),
            compat,
            once: false,
            user_agent: Some(USER_AGENT),
        };
        let (plan, warnings) = resolve(options, &resolving).map_err(|error| plan_failure(&error))?;
        context.warn_all(&warnings);
        Ok(plan)
    }
}

/// The failure of a directive in one of the files of a script that cannot be loaded for want of a module. As in k6, directives come
/// first: they may say where that module comes from.
fn invalid_directive(source: &Source, error: &ScriptError) -> Option<Failure> {
    if !matches!(error, ScriptError::Missing(_)) {
        return None;
    }
    let entry = Entry { path: source.path.clone(), text: source.text.clone() };
    let imports = script::imports(entry, source.outside()).ok()?;
    imports.asked.err().map(|error| directive_failure(&error))
}

fn directive_failure(error: &script::DirectiveError) -> Failure {
    Failure::new(Exit::Other, format!("failed to {error}"))
}

/// A test, checked and ready to run.
pub struct Test {
    /// The script.
    pub script: Script,
    /// The options of all sources, consolidated.
    pub options: Options,
    /// The checked plan.
    pub plan: Arc<Plan>,
    /// JSON that replaces the script's exported `options`.
    pub exported_options_json: String,
    /// The thresholds of the plan.
    pub thresholds: Thresholds,
    /// `__ENV`.
    pub env: std::collections::BTreeMap<String, String>,
    /// Network settings and state shared by the test's VUs.
    pub network: Arc<wire::Shared>,
}

impl Test {
    /// Loads the script and checks everything possible before the first VU starts.
    ///
    /// # Errors
    /// The script, the options, or the thresholds are invalid.
    pub fn prepare(
        source: Source,
        context: &Context,
        env: std::collections::BTreeMap<String, String>,
        cli: &CliOptions,
        compat: Compat,
        ignores_thresholds: bool,
    ) -> Result<Test, Failure> {
        let script = Script::load(source, context, env.clone())?;
        if script.bundle.exports().is_empty() {
            let text = format!(
                "failed to find what to run: {} exports no function; begin with `export default function () {{ … }}`",
                script.source.name
            );
            return Err(Failure::new(Exit::Other, text));
        }
        refuse_unmet(&script, context)?;
        let options = script.merged_options(context, cli, compat)?;
        let exported_options_json = plan::exported_options_json(&options);
        let mut plan = script.plan(context, options.clone(), compat)?;
        if ignores_thresholds {
            plan.thresholds.clear();
        }
        limit(&mut plan, &cli.limits)?;
        check_demand(&plan)?;
        let thresholds = Thresholds::parse(&plan.thresholds, &script.metrics).map_err(|errors| {
            let lines: Vec<String> = errors.iter().map(|error| format!("failed to {error}")).collect();
            Failure::new(Exit::InvalidConfig, lines.join("\n"))
        })?;
        let network = network(&plan)?;
        Ok(Test { script, options, plan: Arc::new(plan), exported_options_json, thresholds, env, network })
    }

    /// Loads the script of an archive with its own options and nothing of this machine's: a part of the test runs here, and the
    /// whole was checked elsewhere.
    ///
    /// # Errors
    /// The script or its options are invalid.
    pub(crate) fn unpack(
        source: Source,
        context: &Context,
        env: std::collections::BTreeMap<String, String>,
        compat: Compat,
        (is_once, scenarios): (bool, Vec<String>),
    ) -> Result<Test, Failure> {
        let script = Script::load(source, context, env.clone())?;
        let mut options = script.options(context)?;
        (options.once, options.selected_scenarios) = (is_once, scenarios);
        let exported_options_json = plan::exported_options_json(&options);
        let mut plan = script.plan(context, options.clone(), compat)?;
        plan.thresholds.clear();
        let network = network(&plan)?;
        let (plan, thresholds) = (Arc::new(plan), Thresholds::default());
        Ok(Test { script, options, plan, exported_options_json, thresholds, env, network })
    }
}

/// Refuses a plan beyond the user's limits, and makes it keep the others.
///
/// # Errors
/// The first limit that the plan exceeds.
pub fn limit(plan: &mut Plan, limits: &LoadLimits) -> Result<(), Failure> {
    let applied = limits.apply(plan);
    applied.map_err(|error| Failure::new(Exit::InvalidConfig, format!("failed to {error}")))
}

fn network(plan: &Plan) -> Result<Arc<wire::Shared>, Failure> {
    let network = wire::Shared::new(&plan.http, &plan.network, &plan.tls)
        .map_err(|error| Failure::new(Exit::InvalidConfig, format!("failed to {error}")))?;
    Ok(Arc::new(network.with_bodies(wire::BodyBudget::of_memory(host::memory_bytes_max()))))
}

/// Returns the `__ENV` of a script.
///
/// # Errors
/// `--env` cannot be parsed.
pub fn script_env(
    given: &[String],
    include_process: Option<bool>,
    env: &Environment,
    includes_process: bool,
) -> Result<std::collections::BTreeMap<String, String>, Failure> {
    let includes_process =
        include_process.or(env.switch("INCLUDE_SYSTEM_ENV_VARS")?).unwrap_or(includes_process);
    env.for_script(includes_process, given)
}

/// Checks k6's flags about the script's language, which this program does not need.
///
/// # Errors
/// The flags require unsupported features.
pub fn refuse_kinds(mode: Option<&str>, env: &Environment) -> Result<(), Failure> {
    let mode = mode.or_else(|| env.setting("COMPATIBILITY_MODE"));
    refuse_first([(
        mode.is_some_and(|mode| !["base", "extended"].contains(&mode)),
        "--compatibility-mode",
        "there are base and extended, and both are one here",
    )])
}

/// Fails if the script's directives require k6 extensions or another version of k6. As in k6,
/// `K6_AUTO_EXTENSION_RESOLUTION=false` disables the check.
fn refuse_unmet(script: &Script, context: &Context) -> Result<(), Failure> {
    let asked = script.asked()?;
    if !context.env.switch("AUTO_EXTENSION_RESOLUTION")?.unwrap_or(true) {
        return Ok(());
    }
    if let Some(constraint) = asked.get("k6").filter(|text| !script::is_met(text, script::K6_VERSION)) {
        let text = format!(
            "failed to provide k6 {constraint}, which a directive of {} asks for (\"use k6 …\"): what this program does \
             is what k6 does up to v{}; change the directive if the script does with that",
            script.source.name,
            script::K6_VERSION
        );
        return Err(Failure::new(Exit::ScriptException, text));
    }
    let is_absent = |name: &&str| *name != "k6" && !script::has_module(name);
    let extensions: Vec<&str> = asked.keys().map(String::as_str).filter(is_absent).collect();
    if extensions.is_empty() {
        return Ok(());
    }
    let text = format!(
        "failed to provide {}, which a directive of {} asks for (\"use k6 with …\"): of k6's extensions, \
         this program has only some; remove the directive if the script does without, or see \
         `plimsoll inspect` for what it uses",
        extensions.join(", "),
        script.source.name
    );
    Err(Failure::new(Exit::ScriptException, text))
}

/// Checks that the kernel allows enough memory mappings for the VUs, since the run would fail midway otherwise.
pub(crate) fn check_demand(plan: &Plan) -> Result<(), Failure> {
    let vus_max = vu_demand(plan).vus_max;
    match vu::coroutines_max() {
        Some(possible) if vus_max > possible => Err(Failure::new(
            Exit::InvalidConfig,
            format!(
                "failed to create {vus_max} VUs: this system allows at most {possible} VU stacks per process; \
                 raise the limit with `sysctl vm.max_map_count={}`",
                vus_max.saturating_mul(2).saturating_add(8_000)
            ),
        )),
        _ => Ok(()),
    }
}
