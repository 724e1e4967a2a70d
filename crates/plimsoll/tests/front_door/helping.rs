//! `plimsoll help` and man pages.

use std::process::Command;

use crate::harness::verb;

#[test]
fn help_lists_subcommands_and_topics() {
    let all = verb("help").run().exits(0);
    for text in ["  run ", "  diagnose ", "Topics:", "  flow ", "plimsoll help TOPIC"] {
        assert!(all.out.contains(text), "{text:?} is not in: {}", all.out);
    }
    verb("help flow").run().exits(0).prints("`plimsoll/flow` measures it").prints("docs/guide/flow.md");
    let both = verb("help compare").run().exits(0);
    assert!(
        both.out.contains("--despite-unequal-load") && both.out.contains("docs/guide/compare.md"),
        "{}",
        both.out
    );
    verb("help runs prune").run().exits(0).prints("Usage: plimsoll runs prune");
    verb("help thresholds").run().exits(255).says("guides that mention it: ").says("(plimsoll help ");
    verb("help complare").run().exits(255).says("did you mean `plimsoll help compare`?");
    verb("help runs prun").run().exits(255).says("no subcommand or topic");
    verb("help nonsense").run().exits(255).says("no subcommand or topic; `plimsoll help` lists both");
}

#[test]
fn every_subcommand_has_a_man_page() {
    let ran = verb("man").run().exits(0);
    let mut names: Vec<String> = std::fs::read_dir(ran.folder())
        .expect("a folder")
        .map(|entry| entry.expect("a file").file_name().into_string().expect("UTF-8"))
        .filter(|name| name.ends_with(".1"))
        .collect();
    names.sort();
    for name in ["plimsoll.1", "plimsoll-run.1", "plimsoll-runs-prune.1", "plimsoll-help.1"] {
        assert!(names.iter().any(|known| known == name), "{name} is not in {names:?}");
    }
    assert!(!names.iter().any(|name| name == "plimsoll-man.1"), "{names:?}");
    let page = ran.read("plimsoll-run.1");
    let examples: Vec<&str> = page.lines().filter(|line| line.starts_with("  plimsoll run ")).collect();
    assert!(examples.len() > 5, "examples keep their lines: {page}");
    assert!(page.starts_with(".ie") && page.contains(".TH plimsoll"), "{page}");
    if Command::new("groff").arg("--version").output().is_err() {
        return;
    }
    for name in &names {
        let checked = Command::new("groff")
            .args(["-man", "-ww", "-z", "-Kutf8"])
            .arg(ran.folder().join(name))
            .output()
            .expect("groff runs");
        let warnings = String::from_utf8_lossy(&checked.stderr);
        assert!(checked.status.success() && warnings.is_empty(), "{name}: {warnings}");
    }
}
