//! Edges of a topology as the rows of a text or of Parquet.
//! Rows are what the topology could be built from again: each edge of an undirected one once, and in
//! the order of the ids if those are stored. Ids that leave no gap are then told by the positions of
//! the rows; otherwise they become a column. Rows are brought into their order a window at a time,
//! as many as fit into memory, each with a pass over the lists. It must not know formats.

use graphmill_disk::Budget;
use rayon::prelude::*;

use super::survey::Survey;
use crate::each_once;
use crate::edge_rows::{EdgeColumns, EdgeRows, each_piece};
use crate::edges::{EdgeStream, EdgeValues};
use crate::progress::{Observer, Stage};
use crate::stored_lists::StoredLists;
use crate::{Error, Result};

/// Rows handed over together.
const ROWS: usize = 1 << 15;

/// An edge with everything that is stored of it.
#[derive(Clone, Copy)]
struct Record {
    row: i64,
    source: u64,
    destination: u64,
    time: i64,
    weight: f32,
}

/// The edges of a topology on their way out.
pub(super) struct Export<'a> {
    lists: &'a StoredLists,
    /// Each edge of an undirected topology comes once.
    once: bool,
    survey: Survey,
    budget: &'a Budget,
    observer: Option<Observer<'a>>,
}

impl<'a> Export<'a> {
    /// Looks at the ids of the edges, if there are any.
    pub(super) fn new(
        lists: &'a StoredLists,
        once: bool,
        budget: &'a Budget,
        observer: Option<Observer<'a>>,
    ) -> Result<Self> {
        let mut export = Export { lists, once, survey: Survey::default(), budget, observer };
        if lists.rows.is_some() {
            let mut survey = Survey::new(budget)?;
            export.scan("looking at edge ids", false, &|_| true, &mut |rows| {
                survey.add(&rows.edge_ids);
                Ok(())
            })?;
            survey.end();
            export.survey = survey;
        }
        Ok(export)
    }

    /// The columns that rows have.
    pub(super) fn columns(&self) -> EdgeColumns {
        EdgeColumns {
            weights: self.lists.weights.is_some(),
            times: self.lists.times.is_some(),
            edge_ids: self.lists.rows.is_some() && !self.survey.counts_rows(),
        }
    }

    /// Hands over all rows in order; gives their number and that of the self loops with one entry,
    /// which are no rows.
    pub(super) fn rows(&self, take: &mut dyn FnMut(&EdgeRows) -> Result<()>) -> Result<(u64, u64)> {
        let mut count = 0;
        let mut take = |rows: &EdgeRows| {
            count += rows.len() as u64;
            take(rows)
        };
        if self.lists.rows.is_none() || !self.survey.can_order() {
            self.scan("writing rows", true, &|_| true, &mut take)?;
        } else {
            self.in_order(&mut take)?;
        }
        let stored = self.lists.graph.edge_count();
        if !self.once {
            return Ok((count, 0));
        }
        if stored < 2 * count {
            let found = format!("{count} edges in {stored} entries of an undirected topology");
            let remedy = "run `graphmill verify`, and build it from its source again";
            return Err(Error::source("lists", found, "two entries for every edge", remedy));
        }
        Ok((count, stored - 2 * count))
    }

    /// Windows of rows, sorted in memory.
    fn in_order(&self, take: &mut dyn FnMut(&EdgeRows) -> Result<()>) -> Result<()> {
        let record = size_of::<Record>() as u64;
        let most = (self.budget.free() / 4 / record).max(1);
        let windows = self.survey.windows(most);
        let columns = self.columns();
        for (window, rows) in windows {
            let _reserved =
                self.budget.reserve(rows * record, "edges in the order of their ids")?;
            let mut records: Vec<Record> = Vec::with_capacity(rows as usize);
            self.scan("writing rows", true, &|row| window.contains(&row), &mut |found| {
                for at in 0..found.len() {
                    records.push(Record {
                        row: found.edge_ids[at],
                        source: found.sources[at],
                        destination: found.destinations[at],
                        time: found.times.get(at).copied().unwrap_or(0),
                        weight: found.weights.get(at).copied().unwrap_or(0.0),
                    });
                }
                Ok(())
            })?;
            let key = |one: &Record| (one.row, one.source, one.destination);
            graphmill_disk::pool()?.install(|| records.par_sort_unstable_by_key(key));
            let mut sorted = EdgeRows::default();
            for piece in records.chunks(ROWS.min(most as usize)) {
                sorted.clear();
                sorted.sources.extend(piece.iter().map(|one| one.source));
                sorted.destinations.extend(piece.iter().map(|one| one.destination));
                sorted.edge_ids.extend(piece.iter().map(|one| one.row));
                if columns.weights {
                    sorted.weights.extend(piece.iter().map(|one| one.weight));
                }
                if columns.times {
                    sorted.times.extend(piece.iter().map(|one| one.time));
                }
                take(&sorted)?;
            }
        }
        Ok(())
    }

    /// Hands over the rows with some ids in the order of the lists.
    fn scan(
        &self,
        stage: &'static str,
        with_values: bool,
        wanted: &(dyn Fn(i64) -> bool + Sync),
        take: &mut dyn FnMut(&EdgeRows) -> Result<()>,
    ) -> Result<()> {
        let StoredLists { graph, rows: ids, weights, times } = self.lists;
        let total = graph.edge_count();
        let read = |first: u64, count: usize, rows: &mut EdgeRows| {
            rows.sources.resize(count, 0);
            rows.destinations.resize(count, 0);
            graph.read(first, &mut rows.sources, &mut rows.destinations)?;
            if let Some(ids) = ids {
                rows.edge_ids.resize(count, 0);
                ids.read(first, &mut rows.edge_ids)?;
            }
            if let Some(weights) = weights.as_ref().filter(|_| with_values) {
                rows.weights.resize(count, 0.0);
                weights.read(first, &mut rows.weights)?;
            }
            if let Some(times) = times.as_ref().filter(|_| with_values) {
                rows.times.resize(count, 0);
                times.read(first, &mut rows.times)?;
            }
            if self.once {
                let mut chosen = Vec::with_capacity(count);
                each_once::choose(graph, first, &rows.sources, &rows.destinations, &mut chosen)?;
                rows.keep(&chosen);
            }
            if ids.is_some() {
                let all = rows.edge_ids.iter().zip(0_u32..);
                let some: Vec<u32> = all.filter(|(id, _)| wanted(**id)).map(|(_, at)| at).collect();
                if some.len() < rows.len() {
                    rows.keep(&some);
                }
            }
            Ok(())
        };
        let mut stage = Stage::new(self.observer, stage, total);
        each_piece(total, self.budget, &mut stage, &read, take)
    }
}
