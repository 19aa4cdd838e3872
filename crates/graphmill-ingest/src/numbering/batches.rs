//! Lookups in files: many at once, in the order of the file.
//! Where keys or numbers do not fit into memory, a batch of questions is sorted first, so that every
//! page of the file is read once a batch however often it is asked for. It must not know what is
//! looked up.

use graphmill_disk::{Budget, PageBuffer, Reservation};

use super::lanes::Lanes;
use super::scratch_array::{IO_BYTES, PAGE, ScratchArray, Stored, values, values_mut};
use crate::Result;

/// Questions of the smallest and of the largest batch.
const LEAST_QUESTIONS: usize = 1 << 11;
const MOST_QUESTIONS: usize = 1 << 18;
/// Stretches into which questions are put without being sorted.
const STRETCHES: usize = 1 << 12;

/// Memory for batches, a lane for each thread.
#[derive(Debug)]
pub(super) struct Batches {
    lanes: Lanes<Batch>,
    questions: usize,
    _reserved: Reservation,
}

/// What one batch needs.
#[derive(Debug)]
pub(super) struct Batch {
    /// What is asked, and the place of the question.
    pub(super) sorted: Vec<(u64, u32)>,
    pub(super) block: PageBuffer,
    /// Where the questions of each stretch of a file start.
    starts: Vec<u32>,
}

impl Batches {
    /// Takes up to a quarter of what is free.
    pub(super) fn new(budget: &Budget) -> Result<Self> {
        let threads = graphmill_disk::pool()?.current_num_threads();
        let fixed = IO_BYTES + PAGE + STRETCHES * size_of::<u32>();
        let lane = |questions: usize| questions * size_of::<(u64, u32)>() + fixed;
        let affordable = usize::try_from(budget.free() / 4).unwrap_or(usize::MAX);
        let mut questions = MOST_QUESTIONS;
        while questions > LEAST_QUESTIONS && lane(questions) * threads > affordable {
            questions /= 2;
        }
        let lanes = (affordable / lane(questions)).clamp(1, threads);
        let reserved = budget.reserve((lanes * lane(questions)) as u64, "looking up nodes")?;
        Ok(Batches { lanes: Lanes::new(lanes), questions, _reserved: reserved })
    }

    /// Questions that are answered at once.
    pub(super) fn questions(&self) -> usize {
        self.questions
    }

    /// Sorts the questions, batch by batch, and lets `answer` replace them.
    pub(super) fn run(
        &self,
        questions: &mut [u64],
        mut answer: impl FnMut(usize, &mut Batch, &mut [u64]) -> Result<()>,
    ) -> Result<()> {
        let mut lane = self.lanes.take(|| Batch::new(self.questions));
        for (index, questions) in questions.chunks_mut(self.questions).enumerate() {
            lane.sort(questions);
            answer(index * self.questions, &mut lane, questions)?;
        }
        Ok(())
    }

    /// Replaces places in a file by the values there; places beyond its end stay as they are.
    pub(super) fn gather<T: Stored + Into<u64>>(
        &self,
        array: &ScratchArray<T>,
        places: &mut [u64],
    ) -> Result<()> {
        let mut lane = self.lanes.take(|| Batch::new(self.questions));
        // Stretches of a block each, in any order within.
        let shift = (IO_BYTES / size_of::<T>()).ilog2();
        for answers in places.chunks_mut(self.questions) {
            if array.count() >> shift < STRETCHES as u64 {
                lane.group(answers, shift);
            } else {
                lane.sort(answers);
            }
            let Batch { sorted, block, .. } = &mut *lane;
            let mut block = Block::new(array, block, sorted.len());
            for &(place, answer) in sorted.iter().filter(|&&(place, _)| place < array.count()) {
                answers[answer as usize] = block.value(place)?.into();
            }
        }
        Ok(())
    }
}

impl Batch {
    fn new(questions: usize) -> Self {
        let (sorted, starts) = (Vec::with_capacity(questions), vec![0; STRETCHES]);
        Batch { sorted, block: PageBuffer::new(IO_BYTES), starts }
    }

    /// Puts questions in ascending order.
    fn sort(&mut self, questions: &[u64]) {
        self.sorted.clear();
        self.sorted.extend(questions.iter().copied().zip(0..));
        self.sorted.sort_unstable();
    }

    /// Puts questions together that are equal but for their lowest `shift` bits, in ascending order
    /// of the others; all that are too large come last.
    fn group(&mut self, questions: &[u64], shift: u32) {
        let stretch = |question: u64| (question >> shift).min(STRETCHES as u64 - 1) as usize;
        self.starts.fill(0);
        questions.iter().for_each(|&question| self.starts[stretch(question)] += 1);
        let mut start = 0;
        for count in &mut self.starts {
            start += std::mem::replace(count, start);
        }
        self.sorted.resize(questions.len(), (0, 0));
        for (&question, place) in questions.iter().zip(0..) {
            let next = &mut self.starts[stretch(question)];
            self.sorted[*next as usize] = (question, place);
            *next += 1;
        }
    }
}

/// A stretch of a file that is looked at by ascending places.
pub(super) struct Block<'a, T> {
    array: &'a ScratchArray<T>,
    buffer: &'a mut [u8],
    first: u64,
    count: u64,
    /// Values read at once.
    step: u64,
}

impl<'a, T: Stored> Block<'a, T> {
    /// `questions` is how many there will be: few are answered page by page, many with all pages.
    pub(super) fn new(array: &'a ScratchArray<T>, buffer: &'a mut [u8], questions: usize) -> Self {
        let pages = array.count() / (PAGE / size_of::<T>()) as u64;
        let bytes = if questions as u64 > pages / 4 { buffer.len() } else { PAGE };
        let step = (bytes / size_of::<T>()) as u64;
        Block { array, buffer, first: 0, count: 0, step }
    }

    #[inline]
    pub(super) fn value(&mut self, place: u64) -> Result<T> {
        if place.wrapping_sub(self.first) >= self.count {
            self.load(place)?;
        }
        Ok(values::<T>(self.buffer)[(place - self.first) as usize])
    }

    /// The values `first .. first + count`, which lie in one page.
    pub(super) fn page(&mut self, first: u64, count: usize) -> Result<&[T]> {
        if first.wrapping_sub(self.first) >= self.count {
            self.load(first)?;
        }
        let start = (first - self.first) as usize;
        Ok(&values::<T>(self.buffer)[start..start + count])
    }

    fn load(&mut self, place: u64) -> Result<()> {
        self.count = 0;
        let first = place / self.step * self.step;
        let count = self.step.min(self.array.count() - first);
        self.array.read(first, &mut values_mut::<T>(self.buffer)[..count as usize])?;
        (self.first, self.count) = (first, count);
        Ok(())
    }
}
