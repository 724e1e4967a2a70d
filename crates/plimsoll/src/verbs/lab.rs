//! `plimsoll lab`: systems under test on real servers, with faults that can be injected.

use lab::{LabError, Status, System, UpSettings};
use runs::{Exit, Failure};
use serde_json::json;
use session::Context;

use crate::flags::{LabFaultFlags, LabFlags, LabUpFlags, LabVerb};
use crate::systems::SYSTEMS;

/// Runs the subcommand.
///
/// # Errors
/// The system is unknown, cannot be started, or is not running.
pub(crate) fn run(flags: &LabFlags, _: &Context) -> Result<Exit, Failure> {
    match &flags.verb {
        LabVerb::List(flags) => {
            session::terminal::print(&if flags.json { list_json() } else { list() });
            Ok(Exit::Ok)
        }
        LabVerb::Up(flags) => up(flags),
        LabVerb::Fault(flags) => fault(flags),
        LabVerb::Status(flags) => status(flags.system.as_deref(), flags.json),
        LabVerb::Down(flags) => down(flags.system.as_deref()),
        LabVerb::Supervise(flags) => part(lab::supervise(system(&flags.system)?, &flags.directory)),
        LabVerb::Serve(flags) => {
            part(lab::serve(system(&flags.system)?, &flags.directory, flags.part.as_deref()))
        }
    }
}

fn up(flags: &LabUpFlags) -> Result<Exit, Failure> {
    let system = system(&flags.system)?;
    // Arguments are checked before anything is installed for them.
    system.variant(flags.variant.as_deref()).map_err(failed)?;
    if flags.install {
        lab::install(system).map_err(failed)?;
    }
    let settings = UpSettings {
        variant: flags.variant.clone(),
        pin: flags.pin,
        otlp: flags.otlp.clone(),
        refresh_s: flags.refresh,
    };
    let state = lab::up(system, &settings).map_err(failed)?;
    let seconds = state.ready_after_ms.unwrap_or_default() as f64 / 1e3;
    let beside = state.core.map(|core| (core, format!("taskset --cpu-list {} ", others(core))));
    let mut text =
        format!("{} ({}) is up at {} after {seconds:.1} s", state.system, state.variant, state.url);
    if let Some((core, _)) = &beside {
        text.push_str(&format!(", on core {core}"));
    }
    text.push_str("\n\n");
    let prefix = beside.map(|(_, prefix)| prefix).unwrap_or_default();
    if let Some(script) = system.scripts.first() {
        text.push_str(&format!("  load it        {prefix}plimsoll run {script}\n"));
    }
    text.push_str(&format!("  its metrics    {}/metrics\n", state.control_url));
    if let Some(fault) = lab::faults_of(system.name).next() {
        text.push_str(&format!("  break it       plimsoll lab fault {} {} on\n", system.name, fault.name));
    }
    text.push_str(&format!("  end it         plimsoll lab down {}\n", system.name));
    session::terminal::print(&text);
    Ok(Exit::Ok)
}

/// Returns the cores below the lab's, which is the last.
fn others(core: usize) -> String {
    if core <= 1 { "0".to_owned() } else { format!("0-{}", core - 1) }
}

fn fault(flags: &LabFaultFlags) -> Result<Exit, Failure> {
    let system = system(&flags.system)?;
    let is_on = flags.state == "on";
    lab::set_fault(system, &flags.fault, is_on).map_err(failed)?;
    let described = lab::faults_of(system.name).find(|fault| fault.name == flags.fault);
    let acts = described.map(|fault| fault.acts.as_str()).unwrap_or_default();
    session::terminal::print(&if is_on {
        format!("{} is on: {acts}\n", flags.fault)
    } else {
        format!("{} is off\n", flags.fault)
    });
    Ok(Exit::Ok)
}

fn status(name: Option<&str>, as_json: bool) -> Result<Exit, Failure> {
    let mut found = Vec::new();
    for system in chosen(name)? {
        found.extend(lab::status(system).map_err(failed)?);
    }
    if as_json {
        let rows: Vec<_> = found.iter().map(status_json).collect();
        session::terminal::print(&format!("{}\n", serde_json::Value::from(rows)));
    } else if found.is_empty() {
        session::terminal::print("nothing is up\n");
    } else {
        found.iter().for_each(|status| session::terminal::print(&describe(status)));
    }
    let is_well = found.iter().all(Status::is_well);
    Ok(if is_well { Exit::Ok } else { Exit::Other })
}

fn describe(status: &Status) -> String {
    let state = &status.state;
    let name = &state.system;
    let mut text = format!("{name} ({}) at {}\n", state.variant, state.url);
    if !status.is_supervised {
        text.push_str(&format!(
            "  its supervisor is gone, with all processes that it started; run `plimsoll lab down {name}` to clean up\n"
        ));
        return text;
    }
    for part in &state.parts {
        let pid = part.identity.pid;
        text.push_str(&match &part.ended {
            None => format!("  {:<12} runs (process {pid})\n", part.name),
            Some(how) => format!("  {:<12} is gone: {how}; its log is {}\n", part.name, part.log.display()),
        });
    }
    text.push_str(&match &status.faults_on {
        None => "  its service does not answer\n".to_owned(),
        Some(on) if on.is_empty() => "  no fault is on\n".to_owned(),
        Some(on) => format!("  faults on: {}\n", on.join(", ")),
    });
    text
}

fn status_json(status: &Status) -> serde_json::Value {
    let state = &status.state;
    json!({
        "system": state.system,
        "variant": state.variant,
        "phase": state.phase,
        "url": state.url,
        "control_url": state.control_url,
        "servers": state.servers,
        "offers": state.offers,
        "otlp": state.otlp,
        "core": state.core,
        "ready_after_ms": state.ready_after_ms,
        "is_well": status.is_well(),
        "is_supervised": status.is_supervised,
        "supervisor": state.supervisor,
        "parts": state.parts,
        "faults_on": status.faults_on,
    })
}

fn down(name: Option<&str>) -> Result<Exit, Failure> {
    let mut ended = Vec::new();
    for system in chosen(name)? {
        if lab::down(system).map_err(failed)? {
            ended.push(system.name);
        }
    }
    session::terminal::print(&if ended.is_empty() {
        "nothing was up\n".to_owned()
    } else {
        format!("{} is down, and its data is deleted\n", ended.join(", "))
    });
    Ok(Exit::Ok)
}

fn list() -> String {
    let mut text = String::new();
    for system in SYSTEMS {
        text.push_str(&format!("{}: {}\n", system.name, system.summary));
        let servers: Vec<&str> = system.servers.iter().map(|server| server.name()).collect();
        text.push_str(&format!("  servers  {}\n  variants\n", servers.join(", ")));
        for variant in system.variants {
            text.push_str(&format!("    {:<22} {}\n", variant.name, variant.summary));
        }
        text.push_str("  faults\n");
        for fault in lab::faults_of(system.name) {
            text.push_str(&format!("    {:<22} {}\n", fault.name, fault.acts));
        }
        text.push_str(&format!("  scripts  {}\n", system.scripts.join(", ")));
    }
    text
}

fn list_json() -> String {
    let systems = SYSTEMS.iter().map(|system| {
        let faults = lab::faults_of(system.name).map(|fault| {
            json!({
                "name": fault.name, "acts": fault.acts, "label": fault.label, "remedy": fault.remedy,
                "expected": fault.expected, "indicator": fault.indicator,
            })
        });
        json!({
            "name": system.name,
            "summary": system.summary,
            "servers": system.servers.iter().map(|server| server.name()).collect::<Vec<_>>(),
            "variants": system.variants.iter().map(|variant| variant.name).collect::<Vec<_>>(),
            "scripts": system.scripts,
            "faults": faults.collect::<Vec<_>>(),
        })
    });
    format!("{}\n", serde_json::Value::from(systems.collect::<Vec<_>>()))
}

fn system(name: &str) -> Result<&'static System, Failure> {
    let found = SYSTEMS.iter().find(|system| system.name == name);
    found.copied().ok_or_else(|| {
        let known: Vec<&str> = SYSTEMS.iter().map(|system| system.name).collect();
        failed(LabError::NoSystem { name: name.to_owned(), known: known.join(", ") })
    })
}

fn chosen(name: Option<&str>) -> Result<Vec<&'static System>, Failure> {
    name.map_or_else(|| Ok(SYSTEMS.to_vec()), |name| Ok(vec![system(name)?]))
}

/// Converts the result of a lab process; its errors go to its standard error.
fn part(ended: Result<(), LabError>) -> Result<Exit, Failure> {
    ended.map(|()| Exit::Ok).map_err(failed)
}

fn failed(error: LabError) -> Failure {
    Failure::new(Exit::Other, format!("failed to {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_of_a_system_that_there_is() {
        let names: Vec<&str> = SYSTEMS.iter().map(|system| system.name).collect();
        for fault in SYSTEMS.iter().flat_map(|system| lab::faults_of(system.name)) {
            assert!(names.contains(&fault.system.as_str()), "{}", fault.name);
        }
        assert_eq!(
            lab::faults().len(),
            SYSTEMS.iter().flat_map(|system| lab::faults_of(system.name)).count()
        );
    }

    #[test]
    fn the_other_cores_are_those_below() {
        assert_eq!((others(1), others(3)), ("0".to_owned(), "0-2".to_owned()));
    }
}
