//! How fast batches follow each other when the stages of an epoch share the cores.
//! An estimate measures what each stage takes by itself and asks here what becomes of that when they work side by side. It
//! does not know what stages do.

/// What a stage takes for one batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StageTime {
    /// Seconds if nobody else wants a core, with the time in which it waits for a disk.
    pub(crate) alone: f64,
    /// Seconds of all processors that work for it.
    pub(crate) busy: f64,
}

/// Seconds from one batch to the next if each stage takes one batch after the other and all of them share the cores.
///
/// No order of the work is faster than the longest stage, or than an equal share of all work. And the stage that the others
/// wait for rests only while every core is busy with them, which is no longer than an equal share of their work. It will
/// be something in between.
pub(crate) fn seconds_between(stages: &[StageTime], cores: f64) -> f64 {
    let all: f64 = stages.iter().map(|stage| stage.busy).sum();
    let (mut fastest, mut slowest) = (all / cores, 0_f64);
    for stage in stages {
        fastest = fastest.max(stage.alone);
        slowest = slowest.max(stage.alone + (all - stage.busy) / cores);
    }
    f64::midpoint(fastest, slowest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(alone: f64, busy: f64) -> StageTime {
        StageTime { alone, busy }
    }

    #[test]
    fn work_takes_no_less_than_its_longest_stage_and_no_more_than_one_core_would() {
        let stages = [stage(3.0, 3.0), stage(2.0, 4.0)];
        assert_eq!(seconds_between(&stages, 1.0), 7.0);
        assert_eq!(seconds_between(&stages[..1], 2.0), 3.0);
        // As fast as 3.5, as slow as 3 + 2.
        assert_eq!(seconds_between(&stages, 2.0), 4.25);
        assert!(seconds_between(&stages, 1000.0) < 3.01);
    }

    #[test]
    fn a_stage_that_waits_for_the_disk_leaves_its_core_to_the_others() {
        let waiting = stage(8.0, 1.0);
        // As fast as 8, as slow as 8 + 1: the disk does not wait for who has time.
        assert_eq!(seconds_between(&[waiting, stage(2.0, 2.0)], 2.0), 8.5);
        assert_eq!(seconds_between(&[waiting], 2.0), 8.0);
    }
}
