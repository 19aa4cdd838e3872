//! How fast batches follow each other when the stages of an epoch share the cores.
//! An estimate measures what each stage takes by itself and asks here what becomes of that when they work side by side. It
//! does not know what stages do.

/// What a stage takes for one batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StageTime {
    /// Seconds if nobody else wants a core, with the time in which it waits for a disk.
    pub(crate) alone: f64,
    /// Seconds of these in which a disk is at work for it.
    pub(crate) disk: f64,
    /// Seconds of all processors that work for it.
    pub(crate) busy: f64,
}

/// How far from the fastest to the slowest order of the work epochs were found to be, if what they wait for only computes:
/// cores that are shared are not idle.
const COMPUTING: f64 = 0.25;
/// The same if it only reads: a disk rests whenever who feeds it waits for a core.
const READING: f64 = 0.75;

/// Seconds from one batch to the next if each stage takes one batch after the other and all of them share the cores.
///
/// No order of the work is faster than the longest stage, or than an equal share of all work. And the stage that the others
/// wait for rests only while every core is busy with them, which is no longer than an equal share of their work. It will
/// be something in between.
pub(crate) fn seconds_between(stages: &[StageTime], cores: f64) -> f64 {
    let all: f64 = stages.iter().map(|stage| stage.busy).sum();
    let (mut longest, mut slowest) = (0_f64, 0_f64);
    let mut reading = 0.0;
    for stage in stages {
        if stage.alone > longest {
            longest = stage.alone;
            reading = stage.disk / stage.alone;
        }
        slowest = slowest.max(stage.alone + (all - stage.busy) / cores);
    }
    let fastest = longest.max(all / cores);
    let towards_slowest = COMPUTING + (READING - COMPUTING) * reading;
    fastest + (slowest - fastest) * towards_slowest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(alone: f64, busy: f64) -> StageTime {
        StageTime { alone, busy, disk: 0.0 }
    }

    #[test]
    fn work_takes_no_less_than_its_longest_stage_and_no_more_than_one_core_would() {
        let stages = [stage(3.0, 3.0), stage(2.0, 4.0)];
        assert_eq!(seconds_between(&stages, 1.0), 7.0);
        assert_eq!(seconds_between(&stages[..1], 2.0), 3.0);
        // As fast as 3.5, as slow as 3 + 2.
        assert_eq!(seconds_between(&stages, 2.0), 3.875);
        assert!(seconds_between(&stages, 1000.0) < 3.01);
        assert_eq!(seconds_between(&[stage(0.0, 0.0)], 2.0), 0.0);
    }

    #[test]
    fn a_disk_loses_more_than_who_computes_when_cores_are_shared() {
        let waiting = |disk: f64| StageTime { alone: 8.0, busy: 1.0, disk };
        let others = stage(2.0, 2.0);
        // As fast as 8, as slow as 8 + 1.
        assert_eq!(seconds_between(&[waiting(8.0), others], 2.0), 8.75);
        assert_eq!(seconds_between(&[waiting(4.0), others], 2.0), 8.5);
        assert_eq!(seconds_between(&[waiting(0.0), others], 2.0), 8.25);
        assert_eq!(seconds_between(&[waiting(8.0)], 2.0), 8.0);
    }
}
