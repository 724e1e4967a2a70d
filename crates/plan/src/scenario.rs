//! Scenarios as written: which fields an executor has, and how they are read and echoed.

use std::collections::BTreeMap;

use model::plan::Stage;
use serde_json::{Map, Value};

use crate::error::{Problem, hint, nearest};
use crate::executors::{self, ExecutorSpec};
use crate::value::{OptionValue, echo_or_null, field, gather, invalid, read_field, read_list, wrong_type};
use crate::{GoDuration, json};

/// The option `scenarios`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scenarios(pub BTreeMap<String, ScenarioConfig>);

/// One scenario, as written: every field optional but the executor.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioConfig {
    /// Its kind of schedule; decides which of the fields it may have.
    pub(crate) executor: &'static ExecutorSpec,
    /// When it starts.
    pub start_time: Option<GoDuration>,
    /// How long iterations may take after its end.
    pub graceful_stop: Option<GoDuration>,
    /// Environment variables.
    pub env: Option<BTreeMap<String, String>>,
    /// The function it calls.
    pub exec: Option<String>,
    /// Tags.
    pub tags: Option<BTreeMap<String, String>>,
    /// `options`, of the browser module alone.
    pub options: Option<Value>,
    /// `vus`
    pub vus: Option<i64>,
    /// `iterations`
    pub iterations: Option<i64>,
    /// `maxDuration`
    pub max_duration: Option<GoDuration>,
    /// `duration`
    pub duration: Option<GoDuration>,
    /// `startVUs`
    pub start_vus: Option<i64>,
    /// `stages`
    pub stages: Option<Stages>,
    /// `gracefulRampDown`
    pub graceful_ramp_down: Option<GoDuration>,
    /// `rate`
    pub rate: Option<i64>,
    /// `startRate`
    pub start_rate: Option<i64>,
    /// `timeUnit`
    pub time_unit: Option<GoDuration>,
    /// `preAllocatedVUs`
    pub pre_allocated_vus: Option<i64>,
    /// `maxVUs`
    pub max_vus: Option<i64>,
}

/// The fields that every scenario has.
const COMMON_FIELDS: [&str; 7] = ["executor", "startTime", "gracefulStop", "env", "exec", "tags", "options"];

impl ScenarioConfig {
    /// A scenario with nothing but its executor.
    pub(crate) fn new(executor: &'static ExecutorSpec) -> ScenarioConfig {
        ScenarioConfig {
            executor,
            start_time: None,
            graceful_stop: None,
            env: None,
            exec: None,
            tags: None,
            options: None,
            vus: None,
            iterations: None,
            max_duration: None,
            duration: None,
            start_vus: None,
            stages: None,
            graceful_ramp_down: None,
            rate: None,
            start_rate: None,
            time_unit: None,
            pre_allocated_vus: None,
            max_vus: None,
        }
    }

    /// The executor's name.
    pub fn executor(&self) -> &'static str {
        self.executor.name
    }

    fn read(value: &Value, at: &str) -> Result<ScenarioConfig, Vec<Problem>> {
        let empty = Map::new();
        let object = match value {
            Value::Null => &empty,
            Value::Object(object) => object,
            _ => return Err(wrong_type(at, "an object", value)),
        };
        let mut config = ScenarioConfig::new(read_executor(object, at)?);
        let fields = object.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("executor"));
        gather(fields.map(|(name, value)| config.read_field(name, value, at)))?;
        Ok(config)
    }

    fn read_field(&mut self, name: &str, value: &Value, at: &str) -> Result<(), Vec<Problem>> {
        let known = COMMON_FIELDS.iter().chain(self.executor.fields);
        let Some(&known) = known.clone().find(|known| known.eq_ignore_ascii_case(name)) else {
            let near = nearest(name, known.copied());
            let reason = format!("no field of executor {}{}", self.executor.name, hint(near));
            return Err(invalid(&format!("{at}.{name}"), reason));
        };
        let at = &format!("{at}.{known}");
        if value.is_null() {
            return Ok(());
        }
        match known {
            "startTime" => self.start_time = Some(GoDuration::read(value, at)?),
            "gracefulStop" => self.graceful_stop = Some(GoDuration::read(value, at)?),
            "env" => self.env = Some(BTreeMap::read(value, at)?),
            "exec" => self.exec = Some(String::read(value, at)?),
            "tags" => self.tags = Some(BTreeMap::read(value, at)?),
            "options" => self.options = Some(value.clone()),
            "vus" => self.vus = Some(i64::read(value, at)?),
            "iterations" => self.iterations = Some(i64::read(value, at)?),
            "maxDuration" => self.max_duration = Some(GoDuration::read(value, at)?),
            "duration" => self.duration = Some(GoDuration::read(value, at)?),
            "startVUs" => self.start_vus = Some(i64::read(value, at)?),
            "stages" => self.stages = Some(Stages::read(value, at)?),
            "gracefulRampDown" => self.graceful_ramp_down = Some(GoDuration::read(value, at)?),
            "rate" => self.rate = Some(i64::read(value, at)?),
            "startRate" => self.start_rate = Some(i64::read(value, at)?),
            "timeUnit" => self.time_unit = Some(GoDuration::read(value, at)?),
            "preAllocatedVUs" => self.pre_allocated_vus = Some(i64::read(value, at)?),
            "maxVUs" => self.max_vus = Some(i64::read(value, at)?),
            _ => unreachable!("an executor lists only fields that are read above"),
        }
        Ok(())
    }

    fn echo(&self) -> String {
        let mut members = vec![
            ("executor", json::string(self.executor.name)),
            ("startTime", echo_or_null(&self.start_time)),
            ("gracefulStop", echo_or_null(&self.graceful_stop)),
            ("env", echo_or_null(&self.env)),
            ("exec", echo_or_null(&self.exec)),
            ("tags", echo_or_null(&self.tags)),
        ];
        members.extend(self.options.as_ref().map(|options| ("options", options.to_string())));
        members.extend(self.executor.fields.iter().map(|&name| (name, self.echo_field(name))));
        json::object(members)
    }

    fn echo_field(&self, name: &str) -> String {
        match name {
            "vus" => echo_or_null(&self.vus),
            "iterations" => echo_or_null(&self.iterations),
            "maxDuration" => echo_or_null(&self.max_duration),
            "duration" => echo_or_null(&self.duration),
            "startVUs" => echo_or_null(&self.start_vus),
            "stages" => echo_or_null(&self.stages),
            "gracefulRampDown" => echo_or_null(&self.graceful_ramp_down),
            "rate" => echo_or_null(&self.rate),
            "startRate" => echo_or_null(&self.start_rate),
            "timeUnit" => echo_or_null(&self.time_unit),
            "preAllocatedVUs" => echo_or_null(&self.pre_allocated_vus),
            "maxVUs" => echo_or_null(&self.max_vus),
            _ => unreachable!("an executor lists only fields that are echoed above"),
        }
    }
}

fn read_executor(object: &Map<String, Value>, at: &str) -> Result<&'static ExecutorSpec, Vec<Problem>> {
    let Some(name) = read_field::<String>(object, "executor", at)? else {
        return Err(invalid(at, format!("doesn't have a specified executor type; {}", executors::names())));
    };
    if let Some(spec) = executors::find(&name) {
        return Ok(spec);
    }
    let at = format!("{at}.executor");
    let near = nearest(&name, executors::ALL.iter().map(|spec| spec.name));
    Err(invalid(&at, format!("unknown executor type '{name}'{}; {}", hint(near), executors::names())))
}

impl OptionValue for Scenarios {
    fn read(value: &Value, at: &str) -> Result<Scenarios, Vec<Problem>> {
        let object = value.as_object().ok_or_else(|| wrong_type(at, "an object of scenarios", value))?;
        let entries = object
            .iter()
            .map(|(name, value)| Ok((name.clone(), ScenarioConfig::read(value, &format!("{at}.{name}"))?)));
        Ok(Scenarios(gather(entries)?.into_iter().collect()))
    }

    fn echo(&self) -> String {
        json::object(self.0.iter().map(|(name, config)| (name.as_str(), config.echo())))
    }
}

/// The option `stages`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stages(pub Vec<StageConfig>);

/// One stage, as written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageConfig {
    /// How long it takes.
    pub duration: Option<GoDuration>,
    /// The number of VUs or the rate at its end.
    pub target: Option<i64>,
}

impl Stages {
    /// The stages, with zeros for what is unset or negative: only after they were checked.
    pub(crate) fn resolve(&self) -> Vec<Stage> {
        let stages = self.0.iter().map(|stage| Stage {
            duration: stage.duration.unwrap_or_default().to_std(),
            target: stage.target.and_then(|target| u64::try_from(target).ok()).unwrap_or(0),
        });
        stages.collect()
    }
}

impl OptionValue for Stages {
    fn read(value: &Value, at: &str) -> Result<Stages, Vec<Problem>> {
        let items = value.as_array().ok_or_else(|| wrong_type(at, "a list of {duration, target}", value))?;
        let stages = read_list(items, at, |item, at| {
            let object =
                item.as_object().ok_or_else(|| wrong_type(at, "an object {duration, target}", item))?;
            Ok(StageConfig {
                duration: field(object, "duration")
                    .map(|duration| GoDuration::read(duration, &format!("{at}.duration")))
                    .transpose()?,
                target: read_field(object, "target", at)?,
            })
        })?;
        Ok(Stages(stages))
    }

    /// `10s:5,1m:0`.
    fn parse(text: &str, at: &str) -> Result<Stages, Vec<Problem>> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        let stages = items.enumerate().map(|(index, item)| {
            let at = format!("{at}[{index}]");
            let (duration, target) = item.split_once(':').map_or((item, None), |(d, t)| (d, Some(t)));
            let duration = Some(duration).filter(|duration| !duration.is_empty());
            Ok(StageConfig {
                duration: duration.map(|it| <GoDuration as OptionValue>::parse(it, &at)).transpose()?,
                target: target.map(|it| i64::parse(it, &at)).transpose()?,
            })
        });
        Ok(Stages(gather(stages)?))
    }

    fn echo(&self) -> String {
        json::array(self.0.iter().map(|stage| {
            json::object([
                ("duration", echo_or_null(&stage.duration)),
                ("target", echo_or_null(&stage.target)),
            ])
        }))
    }
}
