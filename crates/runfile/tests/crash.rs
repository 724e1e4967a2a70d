//! A process that is killed leaves a file that opens, holds whole seconds, and says that it is not all.

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use model::Window;
use runfile::{Reader, State};
use support::{Made, Shape, merged, send};

const SHAPE: Shape = Shape { series: 30, samples: 3, seed: 4 };
const PATH_VARIABLE: &str = "RUNFILE_TEST_CHILD";

/// Not a test of its own: what the other one starts and kills.
#[test]
fn child() {
    let Ok(path) = std::env::var(PATH_VARIABLE) else { return };
    let made = Made::new(SHAPE);
    let mut writer = made.writer(path.as_ref(), "a");
    println!("\nbegun");
    for index in 0..100_000 {
        send(&mut writer, made.window(index));
        std::thread::sleep(Duration::from_micros(500));
    }
}

#[test]
fn a_kill_at_any_moment_leaves_whole_windows() {
    let folder = tempfile::tempdir().expect("folder");
    let made = Made::new(SHAPE);
    let mut longest = 0;
    let mut in_file = 0;
    for round in 0..12u64 {
        let path = folder.path().join(format!("{round}.plimsoll"));
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "child", "--nocapture"])
            .env(PATH_VARIABLE, &path)
            .stdout(Stdio::piped())
            .spawn()
            .expect("start");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        assert!(output.lines().map_while(Result::ok).any(|line| line == "begun"));
        // Odd times, so that every kind of moment is met: between rows, within transactions, while compacting.
        std::thread::sleep(Duration::from_micros(1_000 + round * 37_331));
        child.kill().expect("kill");
        child.wait().expect("wait");

        let reader = Reader::open(&path).expect("open");
        assert_eq!(reader.state(), State::Partial, "round {round}");
        let read: Vec<Window> = reader.windows(0..u32::MAX).map(|window| window.expect("readable")).collect();
        let original = || (0..read.len() as u32).map(|index| Window::clone(&made.window(index)));
        assert!(
            read.iter().map(|window| window.index).eq(0..read.len() as u32),
            "round {round}: whole windows"
        );
        assert_eq!(merged(read.iter().cloned()), merged(original()), "round {round}");
        let sum = reader.sum(0..u32::MAX).expect("readable");
        assert_eq!(sum.series, merged(original()).into_iter().collect::<Vec<_>>(), "round {round}");
        longest = longest.max(read.len());

        // The file alone, as if it had been copied without its log.
        let alone = folder.path().join(format!("alone-{round}.plimsoll"));
        std::fs::copy(&path, &alone).expect("copy");
        let reader = Reader::open(&alone).expect("open without the log");
        let windows = reader.windows(0..u32::MAX).collect::<Result<Vec<_>, _>>();
        let kept = windows.expect("readable").len() as u32;
        let sum = reader.sum(0..u32::MAX).expect("readable");
        let original = (0..kept).map(|index| Window::clone(&made.window(index)));
        assert_eq!(sum.series, merged(original).into_iter().collect::<Vec<_>>(), "round {round}, alone");
        in_file += u64::from(kept);
    }
    assert!(in_file > 0, "no file has anything without its log");
    assert!(longest > 60, "at least one run was killed after a minute had been compacted: {longest}");
}
