//! How the memory of one set of lists is divided.
//! Everything is decided here once, from the bytes granted and the width of a record, so that the
//! other files only fill what they were given. It must not know what is sorted.

/// Less is not enough for a handful of blocks and their input and output.
pub(super) const LEAST_MEMORY: u64 = 64 << 10;
/// Memory for which one more thread pays.
const MEMORY_PER_WORKER: u64 = 128 << 10;
const MOST_WORKERS: usize = 16;
const LARGEST_BLOCK: usize = 64 << 10;
const LARGEST_IO: usize = 1 << 20;
/// Records that show how keys are spread.
const SAMPLED: usize = 1 << 18;

/// Sizes of what is held in memory; together they stay below the bytes granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizing {
    /// Threads that work at once, in pushing and in finishing.
    pub(super) workers: usize,
    /// Parts that keys are asked to be cut into; heavy keys may double them.
    pub(super) parts: usize,
    /// Records of a block.
    pub(super) block_records: usize,
    /// Blocks in memory.
    pub(super) blocks: usize,
    /// Records that one worker can sort.
    pub(super) sortable: usize,
    /// Bytes read or written at once.
    pub(super) io_bytes: usize,
    /// Records that are gathered before parts are chosen.
    pub(super) sampled: usize,
}

impl Sizing {
    pub(super) fn of(memory: u64, width: usize, threads: usize) -> Self {
        let bytes = usize::try_from(memory.max(LEAST_MEMORY)).unwrap_or(usize::MAX / 2);
        let workers = (memory / MEMORY_PER_WORKER) as usize;
        let workers = workers.min(threads).clamp(1, MOST_WORKERS);
        let parts = match memory >> 20 {
            0..16 => (bytes >> 14).clamp(4, 256),
            16..256 => 256,
            256..8192 => 512,
            _ => 2048,
        };
        let io = (bytes / 16).min(workers * LARGEST_IO);
        let work = bytes / 8;
        let pool = bytes - io - work;
        // A quarter of the pool is enough for the open blocks of all workers.
        let block_bytes = (pool / (4 * workers * most_parts(parts))).min(LARGEST_BLOCK);
        let block_records = (block_bytes / width).max(1);
        let blocks = pool / (block_records * width);
        Sizing {
            workers,
            parts,
            block_records,
            blocks: blocks.max(open_blocks(workers, parts)),
            sortable: (work / (workers * work_per_record(width))).clamp(1, u32::MAX as usize),
            io_bytes: (io / workers).min(LARGEST_IO),
            sampled: (blocks * block_records / 8).min(SAMPLED),
        }
    }

    /// Bytes that finishing takes beside blocks, for so many records.
    pub(super) fn working(&self, records: u64, width: usize) -> u64 {
        let sorted = records.min((self.workers * self.sortable) as u64);
        let copied = records.saturating_mul(width as u64);
        sorted * work_per_record(width) as u64 + copied.min((self.workers * self.io_bytes) as u64)
    }

    /// Blocks without which a distribution cannot be filled.
    pub(super) fn open_blocks(&self) -> usize {
        open_blocks(self.workers, self.parts)
    }
}

/// A block for every part of every worker, and one more that is on its way.
fn open_blocks(workers: usize, parts: usize) -> usize {
    workers * (most_parts(parts) + 1)
}

/// Bytes that sorting takes: a record, where it goes to, and a node's counter.
fn work_per_record(width: usize) -> usize {
    2 * width + size_of::<u32>()
}

/// Parts that a request for `parts` can lead to.
fn most_parts(parts: usize) -> usize {
    2 * parts + 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_granted_is_never_exceeded_and_work_can_always_go_on() {
        for shift in 16..40 {
            for width in [8, 16, 24, 40] {
                for threads in [1, 2, 7, 64] {
                    let memory = 1_u64 << shift;
                    let sizing = Sizing::of(memory, width, threads);
                    let work = sizing.sortable * work_per_record(width) + sizing.io_bytes;
                    let bytes =
                        sizing.blocks * sizing.block_records * width + work * sizing.workers;
                    assert!(bytes as u64 <= memory, "{memory} {width} {threads} {sizing:?}");
                    assert!(sizing.blocks >= sizing.open_blocks());
                    assert!(sizing.sampled <= sizing.blocks * sizing.block_records / 8);
                }
            }
        }
    }
}
