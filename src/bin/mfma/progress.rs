//! Progress bars: on standard error, only on a terminal, only for work that takes a while.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::Output;

/// Work that is done sooner shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);
const STEPS: u64 = 10_000;

/// A bar from 0 to 1.
pub struct Progress {
    wanted: bool,
    what: &'static str,
    started: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// For work called `what`.
    pub fn new(output: &Output, what: &'static str) -> Progress {
        Progress {
            wanted: !output.quiet && std::io::stderr().is_terminal(),
            what,
            started: Instant::now(),
            bar: None,
        }
    }

    /// The part that is done, 0 to 1. Returns true, "go on", as the library's callbacks do.
    pub fn tell(&mut self, done: f64) -> bool {
        if self.wanted && self.bar.is_none() && self.started.elapsed() > PATIENCE {
            let style = ProgressStyle::with_template("{msg} {wide_bar} {percent:>3} %, {eta} left");
            let bar = ProgressBar::new(STEPS).with_message(self.what);
            self.bar = Some(match style {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            });
        }
        if let Some(bar) = &self.bar {
            bar.set_position((done.clamp(0.0, 1.0) * STEPS as f64) as u64);
        }
        true
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
