//! Progress on a stream: redrawn in place on a terminal, whole blocks now and then elsewhere.

use std::io::{self, Write};
use std::time::Duration;

use model::plan::Plan;
use model::{Instant, RunEvent, RunProgress};

use crate::Style;

use super::Progress;

/// How often the progress is printed where it cannot be redrawn.
pub const PLAIN_INTERVAL: Duration = Duration::from_secs(10);

/// Shows the progress of one run on one stream, together with other text for the same stream.
#[derive(Debug)]
pub struct Live<W> {
    out: W,
    progress: Progress,
    style: Style,
    is_terminal: bool,
    /// The block on the terminal now; empty when there is none.
    drawn: String,
    plain_at: Option<Instant>,
}

impl<W: Write> Live<W> {
    /// Nothing is drawn yet.
    pub fn new(out: W, plan: &Plan, style: Style, is_terminal: bool) -> Live<W> {
        Live { out, progress: Progress::new(plan), style, is_terminal, drawn: String::new(), plain_at: None }
    }

    /// Takes note of what the run does.
    pub fn on_event(&mut self, event: &RunEvent) {
        self.progress.on_event(event);
    }

    /// Draws, where it is time to. `width` is the terminal's, asked anew each time, since terminals are resized.
    ///
    /// # Errors
    /// The stream refuses; the run goes on without progress.
    pub fn tick(&mut self, progress: &RunProgress, now: Instant, width: usize) -> io::Result<()> {
        if self.is_terminal {
            let block = self.progress.render(progress, now, Some(width), self.style);
            return self.redraw("", block, width);
        }
        let due = *self.plain_at.get_or_insert(now + PLAIN_INTERVAL);
        if now < due {
            return Ok(());
        }
        self.plain_at = Some(now + PLAIN_INTERVAL);
        self.print_block(progress, now)
    }

    /// Prints text, which ends in a line break, above the progress.
    ///
    /// # Errors
    /// The stream refuses.
    pub fn print(&mut self, text: &str, width: usize) -> io::Result<()> {
        let block = self.drawn.clone();
        self.redraw(text, block, width)
    }

    /// Draws the progress a last time and leaves it on the stream.
    ///
    /// # Errors
    /// The stream refuses.
    pub fn finish(mut self, progress: &RunProgress, now: Instant, width: usize) -> io::Result<()> {
        self.progress.on_event(&RunEvent::Ended);
        if self.is_terminal {
            let block = self.progress.render(progress, now, Some(width), self.style);
            return self.redraw("", block, width);
        }
        self.print_block(progress, now)
    }

    fn print_block(&mut self, progress: &RunProgress, now: Instant) -> io::Result<()> {
        let block = self.progress.render(progress, now, None, self.style);
        self.out.write_all(format!("\n{block}").as_bytes())?;
        self.out.flush()
    }

    /// Replaces the drawn block by `above`, which stays, and `block` below it.
    fn redraw(&mut self, above: &str, block: String, width: usize) -> io::Result<()> {
        let mut text = String::new();
        let rows = rows(&self.drawn, width);
        if rows > 0 {
            text += &format!("\r\x1b[{rows}A\x1b[J");
        }
        text += above;
        text += &block;
        self.drawn = block;
        // One write, so that the terminal never shows half a frame.
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }
}

/// Rows that a block takes on a terminal, where lines that are too long are wrapped.
fn rows(block: &str, width: usize) -> usize {
    block.lines().map(|line| visible_width(line).div_ceil(width.max(1)).max(1)).sum()
}

/// Columns without the escape sequences that colour text.
fn visible_width(line: &str) -> usize {
    let mut width = 0;
    let mut in_escape = false;
    for glyph in line.chars() {
        match glyph {
            '\x1b' => in_escape = true,
            'm' if in_escape => in_escape = false,
            _ if in_escape => {}
            _ => width += 1,
        }
    }
    width
}
