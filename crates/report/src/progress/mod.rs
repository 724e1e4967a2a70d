//! The live progress: one line for the run and one for each scenario, as k6 draws them.

mod live;
mod scenario;

pub use live::{Live, PLAIN_INTERVAL};

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use model::plan::Plan;
use model::{Instant, RunEvent, RunProgress};

use crate::Style;
use crate::escape;
use crate::style::{FAINT, GREEN, RED};

use scenario::{Line, Shape, State};

/// A bar is at most this many characters long.
const BAR_MAX: usize = 38;

/// A bar shorter than this says less than a percentage.
const BAR_MIN: usize = 6;

/// The phase of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Initializing { ready: u32, planned: u32 },
    Setup,
    Running,
    Teardown,
    Ended,
}

/// Draws the progress of one run; remembers only what the counters do not say.
#[derive(Debug)]
pub struct Progress {
    scenarios: Vec<Shape>,
    /// The longest that the run can take.
    longest: Duration,
    vus_max: u64,
    phase: Phase,
    /// When each scenario was first seen to be over.
    ended: Vec<Option<Instant>>,
}

impl Progress {
    /// Nothing has happened yet.
    pub fn new(plan: &Plan) -> Progress {
        let scenarios: Vec<Shape> = plan.scenarios.iter().map(Shape::new).collect();
        Progress {
            longest: scenarios.iter().map(Shape::latest_end).max().unwrap_or_default(),
            vus_max: scenarios.iter().map(|shape| shape.vus_max).fold(0, u64::saturating_add),
            ended: vec![None; scenarios.len()],
            scenarios,
            phase: Phase::Initializing { ready: 0, planned: 0 },
        }
    }

    /// Takes note of what the run does.
    pub fn on_event(&mut self, event: &RunEvent) {
        self.phase = match event {
            RunEvent::Initializing { ready, planned } => {
                Phase::Initializing { ready: *ready, planned: *planned }
            }
            RunEvent::SetupStarted => Phase::Setup,
            RunEvent::ScenariosStarted { .. } => Phase::Running,
            RunEvent::TeardownStarted => Phase::Teardown,
            RunEvent::Ended => Phase::Ended,
            _ => return,
        };
    }

    /// The lines, each ending in a line break. `width` is the terminal's; without one there are percentages for bars.
    pub fn render(
        &mut self,
        progress: &RunProgress,
        now: Instant,
        width: Option<usize>,
        style: Style,
    ) -> String {
        let text = match self.phase {
            Phase::Initializing { ready, planned } => format!("Init   {ready}/{planned} VUs initialized\n"),
            Phase::Setup => "Run    setup()\n".to_owned(),
            Phase::Running | Phase::Teardown | Phase::Ended => self.running(progress, now, width, style),
        };
        style.fit(text)
    }

    fn running(
        &mut self,
        progress: &RunProgress,
        now: Instant,
        width: Option<usize>,
        style: Style,
    ) -> String {
        let began = Instant::from_ns(progress.began_ns.load(Relaxed));
        let started = Instant::from_ns(progress.started_ns.load(Relaxed));
        let (active, ready) = (progress.vus_active.load(Relaxed), progress.vus_initialized.load(Relaxed));
        let digits = decimal_digits(self.vus_max.max(u64::from(ready)));
        let elapsed = now.since(if began == Instant::ZERO { started } else { began });
        let mut text = format!(
            "running ({}), {active:0digits$}/{ready} VUs, {} complete and {} interrupted iterations\n",
            clock(elapsed, self.longest),
            progress.iterations_completed.load(Relaxed),
            progress.iterations_interrupted.load(Relaxed),
        );
        let mut lines = Vec::new();
        for ((shape, counters), ended) in self.scenarios.iter().zip(&progress.scenarios).zip(&mut self.ended)
        {
            let is_over = shape.is_over(counters) || self.phase == Phase::Ended;
            if is_over && ended.is_none() {
                *ended = Some(now);
            }
            let now = ended.unwrap_or(now);
            lines.push(shape.line(counters, started, now, self.phase == Phase::Ended));
        }
        text += &draw(&lines, width, style);
        text
    }
}

/// The scenarios' lines, aligned.
fn draw(lines: &[Line], width: Option<usize>, style: Style) -> String {
    let name_width = lines.iter().map(|line| chars(&escape::terminal(&line.name))).max().unwrap_or(0);
    let column = |index: usize| lines.iter().map(|line| chars(&line.columns[index])).max().unwrap_or(0);
    let columns = [column(0), column(1), column(2)];
    let right = columns.iter().sum::<usize>() + 4;
    let bar_width = width.and_then(|width| {
        let room = width.checked_sub(name_width + right + 7)?.min(BAR_MAX);
        (room >= BAR_MIN).then_some(room)
    });
    lines.iter().map(|line| draw_line(line, name_width, &columns, bar_width, style)).collect()
}

fn draw_line(
    line: &Line,
    name_width: usize,
    columns: &[usize; 3],
    bar_width: Option<usize>,
    style: Style,
) -> String {
    let mark = match line.state {
        State::Running => " ".to_owned(),
        State::Waiting => style.paint(FAINT, "•"),
        State::Stopping => "↓".to_owned(),
        State::Done => style.paint(GREEN, "✓"),
        State::Interrupted => style.paint(RED, "✗"),
    };
    let bar = match bar_width {
        Some(width) => bar(line.fraction, width, style),
        None => format!(" {:>3.0}% ", (line.fraction * 100.0).floor()),
    };
    let [vus, time, rest] = &line.columns;
    let name = escape::terminal(&line.name);
    let text =
        format!("{name:<name_width$} {mark} [{bar}] {vus:<0$}  {time:<1$}  {rest}", columns[0], columns[1]);
    text.trim_end().to_owned() + "\n"
}

fn bar(fraction: f64, width: usize, style: Style) -> String {
    let filled = ((fraction * width as f64) as usize).min(width);
    let tip = if (1..width).contains(&filled) { ">" } else { "" };
    let body = "=".repeat(filled - tip.len());
    let rest = style.paint(FAINT, &"-".repeat(width - filled));
    format!("{body}{tip}{rest}")
}

/// A time with tenths of a second, in as many places as `longest` needs, so that it does not jump about.
fn clock(time: Duration, longest: Duration) -> String {
    let tenths = time.as_millis() / 100;
    let (seconds, longest) = (tenths / 10, u128::from(longest.as_secs().max(time.as_secs())));
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let rest = format!("{}.{}", seconds % 60, tenths % 10);
    let places = |highest: u128| if highest >= 10 { 2 } else { 1 };
    if longest >= 3600 {
        format!("{hours:00$}h{minutes:02}m{rest:0>4}s", places(longest / 3600))
    } else if longest >= 60 {
        format!("{minutes:00$}m{rest:0>4}s", places(longest / 60))
    } else {
        format!("{rest:0>0$}s", places(longest) + 2)
    }
}

fn decimal_digits(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests;
