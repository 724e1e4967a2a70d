//! `plimsoll doctor`: checks that each evidence source is reachable and has the permissions it needs.

use evidence::{Check, Source, sources};
use report::escape;
use runs::{Exit, Failure};
use serde_json::json;
use session::Context;
use session::evidence::open;

use crate::flags::DoctorFlags;

/// Runs the subcommand.
///
/// # Errors
/// A source is invalid.
pub(crate) fn run(flags: &DoctorFlags, context: &Context) -> Result<Exit, Failure> {
    if flags.kinds {
        session::terminal::print(&kinds());
        return Ok(Exit::Ok);
    }
    if flags.cluster.kubernetes {
        return agents::examine_cluster(&flags.cluster, flags.json, context);
    }
    let mut sources = open(&session::project::named(&flags.evidence.asked(), context)?)?;
    if sources.is_empty() {
        let text = "no source of evidence is named: write [evidence.NAME] into plimsoll.toml, or --evidence \
                    KIND=ADDRESS; `plimsoll doctor --kinds` lists the kinds\n";
        context.logger.print(text);
        return Ok(Exit::Ok);
    }
    let mut is_well = true;
    let mut documents = Vec::new();
    for source in &mut sources {
        let checks = source.probe();
        is_well &= !checks.iter().any(is_fatal);
        if flags.json {
            documents.push(document(&**source, &checks));
        } else {
            session::terminal::print(&describe(&**source, &checks));
        }
    }
    if flags.json {
        let text = format!("{:#}\n", serde_json::Value::from(documents));
        session::terminal::print(&escape::json(&text));
    }
    Ok(if is_well { Exit::Ok } else { Exit::Other })
}

fn is_fatal(check: &Check) -> bool {
    check.outcome.as_ref().is_err_and(|missing| missing.is_fatal)
}

fn kinds() -> String {
    let mut text = String::new();
    for kind in sources::KINDS {
        text.push_str(&format!(
            "{}\n  {}\n  --evidence {}={}\n",
            kind.name, kind.provides, kind.name, kind.example
        ));
        for (setting, meaning) in kind.settings {
            text.push_str(&format!("  {setting}: {meaning}\n"));
        }
        text.push('\n');
    }
    text
}

fn describe(source: &dyn Source, checks: &[Check]) -> String {
    let about = source.about();
    let mut text = format!(
        "{} ({}) at {}\n",
        escape::terminal(&about.name),
        about.kind,
        escape::terminal(&about.address)
    );
    for check in checks {
        text.push_str(&match &check.outcome {
            Ok(outcome) => format!("  ✓ {}: {}\n", escape::terminal(&check.what), escape::terminal(outcome)),
            Err(missing) => {
                let mark = if missing.is_fatal { '✗' } else { '!' };
                let (why, remedy) = (escape::terminal(&missing.why), escape::terminal(&missing.remedy));
                format!("  {mark} {}: {why}\n      {remedy}\n", escape::terminal(&check.what))
            }
        });
    }
    text
}

fn document(source: &dyn Source, checks: &[Check]) -> serde_json::Value {
    let about = source.about();
    let check = |check: &Check| match &check.outcome {
        Ok(outcome) => json!({"what": check.what, "is_well": true, "outcome": outcome}),
        Err(missing) => json!({
            "what": check.what,
            "is_well": false,
            "why": missing.why,
            "remedy": missing.remedy,
            "is_fatal": missing.is_fatal,
        }),
    };
    let checks: Vec<_> = checks.iter().map(check).collect();
    json!({"name": about.name, "kind": about.kind, "address": about.address, "checks": checks})
}
