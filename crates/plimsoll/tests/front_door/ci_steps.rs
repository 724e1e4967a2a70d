//! The steps of `action.yml` and of the template for GitLab, run as they stand there.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::harness::plimsoll;

const SCRIPT: &str =
    "export const options = { iterations: 3, thresholds: { iterations: [__ENV.LIMIT || 'count>2'] } };
    export default () => {};";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// The commands of the steps of a file: GitHub's `run:` and GitLab's list items below `script:` and the like.
fn steps(file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(file)).expect("a file of steps");
    let of_line = |line: &str| {
        let line = line.trim();
        line.strip_prefix("run: ")
            .or_else(|| {
                line.strip_prefix("- ").filter(|rest| rest.starts_with("sh ") || rest.starts_with("if ["))
            })
            .map(str::to_owned)
    };
    text.lines().filter_map(of_line).collect()
}

/// A folder of a job, and the commands that run there.
struct Job {
    plimsoll: crate::harness::Plimsoll,
    env: Vec<(String, String)>,
}

impl Job {
    fn new() -> Job {
        let plimsoll = plimsoll("").file("test.js", SCRIPT);
        let bin = Path::new(env!("CARGO_BIN_EXE_plimsoll")).parent().expect("a folder").display().to_string();
        let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
        let folder = plimsoll.folder().display().to_string();
        let root = root().display().to_string();
        let pairs = [
            ("PATH", path.as_str()),
            ("GITHUB_ACTION_PATH", &root),
            ("PLIMSOLL_SCRIPT", "test.js"),
            ("XDG_CONFIG_HOME", &folder),
            ("XDG_DATA_HOME", &folder),
            ("HOME", &folder),
        ];
        let env = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Job { plimsoll, env }
    }

    fn with(mut self, name: &str, value: &str) -> Job {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    #[track_caller]
    fn step(&self, command: &str, code: i32) -> Output {
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(self.plimsoll.folder())
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .output()
            .expect("a shell");
        let printed = [&output.stdout[..], &output.stderr[..]].concat();
        assert_eq!(output.status.code(), Some(code), "{command}: {}", String::from_utf8_lossy(&printed));
        output
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.plimsoll.folder().join("plimsoll-ci").join(name)).unwrap_or_default()
    }
}

/// The comments of one pull request, as both services serve them.
struct Comments {
    address: String,
    all: Arc<Mutex<Vec<Value>>>,
    /// Methods, paths and tokens of requests.
    requests: Arc<Mutex<Vec<String>>>,
}

impl Comments {
    fn serve() -> Comments {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let comments = Comments { address, all: Arc::default(), requests: Arc::default() };
        let (all, requests) = (comments.all.clone(), comments.requests.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(stream, &all, &requests);
            }
        });
        comments
    }
}

fn answer(stream: TcpStream, all: &Mutex<Vec<Value>>, requests: &Mutex<Vec<String>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut request = line.trim().trim_end_matches(" HTTP/1.1").to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let header = header.trim().to_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(bytes) = header.strip_prefix("content-length: ") {
            length = bytes.parse().ok()?;
        }
        let is_token = header.starts_with("authorization") || header.starts_with("private-token");
        request += &if is_token { format!(" {header}") } else { String::new() };
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mut all = all.lock().expect("no panic");
    let given: Value = serde_json::from_slice(&body).unwrap_or_default();
    let path = request.split(' ').nth(1)?.to_owned();
    let reply = match request.split(' ').next()? {
        "GET" => Value::from(all.clone()),
        "POST" => {
            let comment = json!({ "id": all.len() + 40, "body": given["body"] });
            all.push(comment.clone());
            comment
        }
        _ => {
            let id: usize = path.rsplit('/').next()?.parse().ok()?;
            all[id - 40]["body"] = given["body"].clone();
            all[id - 40].clone()
        }
    };
    requests.lock().expect("no panic").push(request);
    let text = reply.to_string();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", text.len());
    reader.into_inner().write_all(format!("{head}{text}").as_bytes()).ok()
}

/// Whether the programs of the steps are installed.
fn has_tools() -> bool {
    let is_there = |tool: &str| Command::new(tool).arg("--version").output().is_ok();
    let all = ["curl", "jq"].iter().all(|tool| is_there(tool));
    assert!(all || std::env::var_os("PLIMSOLL_TESTS").is_none(), "curl and jq are not installed");
    if !all {
        eprintln!("skipped: curl and jq are not installed, so comments are not written");
    }
    all
}

#[test]
fn a_pull_request_is_compared_with_its_base_branch() {
    let steps = steps("action.yml");
    let step = |part: &str| steps.iter().find(|step| step.contains(part)).expect("a step").clone();
    // On the base branch.
    let base = Job::new();
    base.step(&step("run.sh"), 0);
    assert!(base.read("comment.md").contains("has no run to compare with"), "{}", base.read("comment.md"));
    assert!(base.read("tests.xml").contains("<testsuite"));
    base.step(&step("cp plimsoll-ci/run.plimsoll"), 0);
    // The cache carries its run to the pull request.
    let request = Job::new();
    std::fs::create_dir(request.plimsoll.folder().join("plimsoll-ci")).expect("a folder");
    let from = base.plimsoll.folder().join("plimsoll-ci/base.plimsoll");
    std::fs::copy(from, request.plimsoll.folder().join("plimsoll-ci/base.plimsoll")).expect("a copy");
    request.step(&step("run.sh"), 0);
    let comment = request.read("comment.md");
    assert!(comment.starts_with("<!-- plimsoll: test.js -->\n**validity: "), "{comment}");
    assert!(comment.contains("### Compared with the base branch"), "{comment}");
    assert!(request.plimsoll.folder().join("plimsoll-ci/run.plimsoll").exists());
    if !has_tools() {
        return;
    }
    let comments = Comments::serve();
    let request = request
        .with("GITHUB_API_URL", &comments.address)
        .with("GITHUB_REPOSITORY", "o/r")
        .with("GITHUB_TOKEN", "t0ken")
        .with("PLIMSOLL_PULL_REQUEST", "7");
    comments.all.lock().expect("no panic").push(json!({ "id": 40, "body": "of a person" }));
    request.step(&step("comment.sh"), 0);
    request.step(&step("comment.sh"), 0);
    let all = comments.all.lock().expect("no panic").clone();
    assert_eq!((all.len(), &all[0]["body"]), (2, &json!("of a person")), "one comment, which is updated");
    assert_eq!(all[1]["body"], comment);
    let requests = comments.requests.lock().expect("no panic").join("\n");
    let expect = [
        "POST /repos/o/r/issues/7/comments authorization: bearer t0ken",
        "PATCH /repos/o/r/issues/comments/41",
    ];
    assert!(expect.iter().all(|request| requests.contains(request)), "{requests}");
}

#[test]
fn a_failed_test_keeps_its_run_and_a_test_that_cannot_start_says_so() {
    let failed = Job::new().with("LIMIT", "count>5");
    let run = steps("action.yml").into_iter().find(|step| step.contains("run.sh")).expect("a step");
    failed.step(&run, 99);
    assert!(failed.read("comment.md").contains("Not OK"), "{}", failed.read("comment.md"));
    assert!(failed.plimsoll.folder().join("plimsoll-ci/run.plimsoll").exists());
    let absent = Job::new().with("PLIMSOLL_SCRIPT", "none.js");
    let output = absent.step(&run, 255);
    assert!(String::from_utf8_lossy(&output.stderr).contains("the test left no run (exit code 255)"));
    let flags = Job::new().with("PLIMSOLL_ARGS", "--name pr --tag a=b");
    flags.step(&run, 0);
    assert!(flags.read("comment.md").contains("validity"), "{}", flags.read("comment.md"));
}

#[test]
fn gitlabs_steps_comment_a_merge_request() {
    let job = Job::new().with("PLIMSOLL_CI", &root().join("deploy/ci").display().to_string());
    let job = job.with("PLIMSOLL_CACHE_POLICY", "push");
    let steps = steps("deploy/ci/gitlab.yml");
    assert_eq!(steps.len(), 3, "{steps:?}");
    steps[..2].iter().for_each(|step| drop(job.step(step, 0)));
    assert!(job.plimsoll.folder().join("plimsoll-ci/base.plimsoll").exists());
    job.step(&steps[2], 0);
    if !has_tools() {
        return;
    }
    let comments = Comments::serve();
    let job = job
        .with("CI_API_V4_URL", &format!("{}/api/v4", comments.address))
        .with("CI_PROJECT_ID", "5")
        .with("CI_MERGE_REQUEST_IID", "8");
    let output = job.step(&steps[2], 0);
    assert!(String::from_utf8_lossy(&output.stderr).contains("PLIMSOLL_GITLAB_TOKEN is not set"));
    comments.all.lock().expect("no panic").push(json!({ "id": 40, "body": "of a person" }));
    let job = job.with("PLIMSOLL_GITLAB_TOKEN", "t0ken");
    job.step(&steps[2], 0);
    job.step(&steps[2], 0);
    let requests = comments.requests.lock().expect("no panic").join("\n");
    let expect = [
        "POST /api/v4/projects/5/merge_requests/8/notes private-token: t0ken",
        "PUT /api/v4/projects/5/merge_requests/8/notes/41",
    ];
    assert!(expect.iter().all(|request| requests.contains(request)), "{requests}");
}

#[test]
fn a_release_is_installed_only_if_its_checksum_is_right() {
    if !has_tools() {
        return;
    }
    let job = Job::new();
    let folder = job.plimsoll.folder().to_owned();
    let name = "plimsoll-1.0.0-here";
    std::fs::create_dir(folder.join(name)).expect("a folder");
    std::fs::write(folder.join(name).join("plimsoll"), "#!/bin/sh\necho v1.0.0\n").expect("a program");
    job.step(&format!("chmod +x {name}/plimsoll && tar -cf {name}.tar.gz --use-compress-program='gzip -1' {name} && sha256sum {name}.tar.gz >SHA256SUMS"), 0);
    let job = job
        .with("PLIMSOLL_RELEASE", &format!("file://{}", folder.display()))
        .with("PLIMSOLL_VERSION", "1.0.0")
        .with("PLIMSOLL_TARGET", "here")
        .with("GITHUB_PATH", "path");
    let install = steps("action.yml").into_iter().find(|step| step.contains("install.sh")).expect("a step");
    job.step(&install, 0);
    assert!(folder.join("plimsoll-bin/plimsoll").exists());
    let path = std::fs::read_to_string(folder.join("path")).expect("a path");
    assert_eq!(path.trim(), folder.join("plimsoll-bin").display().to_string());
    job.step("rm -r plimsoll-bin && printf x >>plimsoll-1.0.0-here.tar.gz", 0);
    job.step(&install, 1);
    assert!(!folder.join("plimsoll-bin").exists(), "nothing is installed");
}

#[test]
fn steps_name_files_and_variables_that_exist() {
    let action = std::fs::read_to_string(root().join("action.yml")).expect("an action");
    let scripts = ["install.sh", "run.sh", "comment.sh"];
    let all: String = scripts
        .iter()
        .map(|name| std::fs::read_to_string(root().join("deploy/ci").join(name)).expect("a script"))
        .collect();
    for name in scripts {
        assert!(action.contains(&format!("deploy/ci/{name}")), "{name} is no step");
    }
    let variables = action.lines().filter_map(|line| line.trim().split_once(": ${{ inputs."));
    let mut count = 0;
    for (variable, _) in variables.filter(|(name, _)| name.starts_with("PLIMSOLL_")) {
        assert!(all.contains(variable), "no script reads {variable}");
        count += 1;
    }
    assert!(count >= 5, "{count} variables");
}

#[test]
fn a_release_has_the_version_of_its_tag() {
    let job = Job::new();
    let script = root().join("deploy/release.sh").display().to_string();
    let output = job.step(&format!("sh {script} 99.0.0"), 1);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.contains("the tag has version 99.0.0, Cargo.toml has ")
            && text.contains(env!("CARGO_PKG_VERSION")),
        "{text}"
    );
}

#[test]
fn each_night_and_each_release_walk_the_first_hour() {
    for name in ["release.yml", "nightly.yml"] {
        let path = root().join(".github/workflows").join(name);
        let workflow = std::fs::read_to_string(path).expect("a workflow");
        let words = workflow.split_whitespace().filter(|word| word.starts_with("deploy/"));
        let files: Vec<&str> = words.collect();
        assert!(files.contains(&"deploy/first-hour/containers.sh"), "{name}: {files:?}");
        assert!(files.contains(&"deploy/release.sh"), "{name}: {files:?}");
        for file in files {
            assert!(root().join(file).is_file(), "{name}: {file} does not exist");
        }
    }
}

#[test]
fn the_times_of_a_walk_are_those_of_a_whole_one() {
    let job = Job::new();
    let script = root().join("deploy/first-hour/times.sh").display().to_string();
    let whole =
        "Debian, x86_64\n\n1. Download\n\n| Step | |\n|---|---|\n| 1 | Download |\n\nAll 1 steps: 0.1 s\n";
    std::fs::write(job.plimsoll.folder().join("whole.log"), whole).expect("written");
    std::fs::write(job.plimsoll.folder().join("cut.log"), &whole[..30]).expect("written");
    let times = job.step(&format!("sh {script} whole.log"), 0);
    let expect = "# Times of the first hour\n\n## Debian, x86_64\n\n| Step | |\n|---|---|\n| 1 | Download |\n\nAll 1 steps: 0.1 s\n\n";
    assert_eq!(String::from_utf8_lossy(&times.stdout), expect);
    job.step(&format!("sh {script} cut.log"), 1);
}

#[test]
fn shell_scripts_are_of_every_shell() {
    for folder in ["deploy", "deploy/ci", "deploy/first-hour", "xtask/mcp"] {
        for entry in std::fs::read_dir(root().join(folder)).expect("a folder") {
            let path = entry.expect("a file").path();
            if path.extension().is_some_and(|extension| extension == "sh") {
                let checked = Command::new("sh").arg("-n").arg(&path).output().expect("a shell");
                assert!(
                    checked.status.success(),
                    "{}: {}",
                    path.display(),
                    String::from_utf8_lossy(&checked.stderr)
                );
            }
        }
    }
}
