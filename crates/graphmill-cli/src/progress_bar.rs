//! How far long work is, drawn on a terminal.
//! Writers report to [`ProgressBar::observe`], which also carries the wish to stop back to them. Where stderr is no
//! terminal, or with `--quiet`, nothing is drawn. It must not know what the stages mean.

use crate::interruption::Interruption;
use graphmill::ingest::Progress;
use indicatif::{ProgressDrawTarget, ProgressStyle};
use std::sync::Mutex;
use std::time::Duration;

const BAR: &str = "{msg:>16} {wide_bar} {human_pos}/{human_len} {per_sec} {eta}";
const SPINNER: &str = "{spinner} {msg} {elapsed}";

/// A bar for each stage of a build, one after the other on the same line.
pub struct ProgressBar<'a> {
    bar: indicatif::ProgressBar,
    stage: Mutex<&'static str>,
    interruption: &'a Interruption,
}

impl<'a> ProgressBar<'a> {
    /// A bar that appears with the first report.
    pub fn new(quiet: bool, interruption: &'a Interruption) -> Self {
        let bar = draw(indicatif::ProgressBar::new(0), quiet, BAR);
        ProgressBar { bar, stage: Mutex::default(), interruption }
    }

    /// Takes a report; false when the work shall stop.
    pub fn observe(&self, progress: Progress) -> bool {
        if !self.bar.is_hidden() {
            // A bar may be wrong after a panic elsewhere, but it is only a bar.
            let mut stage = self.stage.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            if *stage != progress.stage {
                *stage = progress.stage;
                self.bar.reset();
                self.bar.set_message(progress.stage);
            }
            self.bar.set_length(progress.total);
            self.bar.set_position(progress.done);
        }
        !self.interruption.is_requested()
    }
}

impl Drop for ProgressBar<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A sign of life for work that cannot say how far it is; vanishes when dropped.
pub struct Spinner(indicatif::ProgressBar);

impl Spinner {
    /// Starts to turn.
    pub fn new(quiet: bool, message: impl Into<String>) -> Self {
        let bar = draw(indicatif::ProgressBar::no_length(), quiet, SPINNER);
        if !bar.is_hidden() {
            bar.set_message(message.into());
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Spinner(bar)
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn draw(bar: indicatif::ProgressBar, quiet: bool, template: &str) -> indicatif::ProgressBar {
    // indicatif hides a bar by itself where stderr is no terminal.
    bar.set_draw_target(if quiet {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(10)
    });
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
