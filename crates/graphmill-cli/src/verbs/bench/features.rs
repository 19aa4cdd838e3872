//! The section `features`: how fast rows are fetched by id.
//! Many rows from memory, mapped and as users have it, then few rows of a file that was forgotten; all are held against
//! what was generated. How rows are read is unknown here.

use super::bench_run::BenchRun;
use super::cold::evict;
use super::figure::{Figure, Missing, Section, State};
use graphmill::disk::Reservation;
use graphmill::format::manifest;
use graphmill::ingest::generate::NodeData;
use graphmill::load::{Reading, Rows};
use graphmill::store::Table;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Cold, one row of so many is wanted, as a batch of a large graph wants them.
const SPARSE: u64 = 64;

/// Rows to fetch, and what they must be.
struct Wanted {
    ids: Vec<i64>,
    expected: Vec<u8>,
    out: Vec<u8>,
    _held: Reservation,
}

pub fn measure(run: &BenchRun<'_>) -> anyhow::Result<Section> {
    let table = run.dataset()?.table(manifest::FEATURES)?.path().to_path_buf();
    let mut figures = Vec::new();
    let mut wanted = Wanted::draw(run, run.shape.gathered_rows, 3)?;
    for (name, reading) in [("mapped", Reading::Mapped), ("auto", Reading::Auto)] {
        let rows = Rows::open(Table::open(&table)?, reading)?;
        // Once for the pages.
        wanted.gather(run, &rows, name)?;
        let seconds = run.timed(|| wanted.gather(run, &rows, name))?;
        let figure = Figure::rate(name, "rows/s", wanted.ids.len() as f64, &seconds);
        figures.push(figure.threads(run.threads).state(State::Warm));
    }
    let mut missing = Vec::new();
    let mut wanted = Wanted::draw(run, (run.num_nodes() / SPARSE).max(1), 4)?;
    match cold(run, table, &mut wanted)? {
        Ok(figure) => figures.push(figure),
        Err(reason) => missing.push(Missing { name: "auto, cold".to_owned(), reason }),
    }
    Ok(Section { name: "features", figures, missing })
}

fn cold(
    run: &BenchRun<'_>,
    table: PathBuf,
    wanted: &mut Wanted,
) -> anyhow::Result<Result<Figure, String>> {
    let name = "auto, one row of 64";
    let paths = [table];
    let mut state = Ok(State::Cold);
    let seconds = run.timed(|| {
        state = state.clone().and(evict(&paths)?);
        let rows = Rows::open(Table::open(&paths[0])?, Reading::Auto)?;
        wanted.gather(run, &rows, name)
    })?;
    Ok(state.map(|state| {
        let small_reads = run.disk.as_ref().map(|disk| disk.best_small_rate());
        Figure::rate(name, "rows/s", wanted.ids.len() as f64, &seconds)
            .threads(run.threads)
            .state(state)
            .limit("the disk's random 4 KiB reads", small_reads)
    }))
}

impl Wanted {
    fn draw(run: &BenchRun<'_>, count: u64, purpose: u64) -> anyhow::Result<Self> {
        let features = run.shape.features;
        let bytes = count * (4 * features as u64);
        let held = run.budget().reserve(2 * bytes + 8 * count, "the rows to fetch")?;
        let mut draw = run.draw(purpose);
        let ids: Vec<i64> = (0..count).map(|_| draw.below(run.num_nodes()) as i64).collect();
        let mut expected = Vec::with_capacity(bytes as usize);
        let mut row = vec![0.0; features];
        for &id in &ids {
            run.nodes.features(id as u64, &mut row);
            expected.extend(row.iter().flat_map(|value: &f32| value.to_le_bytes()));
        }
        let out = vec![0; expected.len()];
        Ok(Wanted { ids, expected, out, _held: held })
    }

    /// Fetches all rows, says how long that took, and looks at every byte.
    fn gather(&mut self, run: &BenchRun<'_>, rows: &Rows, name: &str) -> anyhow::Result<Duration> {
        self.out.fill(0);
        let Wanted { ids, out, .. } = self;
        let start = Instant::now();
        run.install(|| Ok(rows.gather(ids, out)?))?;
        let time = start.elapsed();
        if self.out != self.expected {
            return Err(
                run.mismatch(format!("rows fetched by {name}"), "those that were generated")
            );
        }
        Ok(time)
    }
}
