//! The original ids of nodes that were renumbered, looked up in the topology that stores them.
//! They are read into memory once if that takes no more than a quarter of what is free; otherwise
//! the nodes of every request are sorted, and the file is read a block at a time. It must not know
//! what the ids are needed for.

use graphmill_disk::{Budget, Reservation};

use crate::Result;
use crate::edges::EdgeValues;
use crate::stored::StoredValues;

/// Ids read together.
const BLOCK: u64 = 1 << 13;

/// One id for every node.
#[derive(Debug)]
pub(crate) struct StoredIds {
    values: StoredValues,
    /// All of them, where memory allows it.
    loaded: Option<(Vec<i64>, Reservation)>,
}

impl StoredIds {
    /// Reads the ids if they fit.
    pub(crate) fn load(values: StoredValues, budget: &Budget) -> Result<Self> {
        let count = EdgeValues::<i64>::count(&values);
        if count > budget.free() / 4 / 8 {
            return Ok(StoredIds { values, loaded: None });
        }
        let reserved = budget.reserve(count * 8, "original ids")?;
        let mut ids = vec![0; count as usize];
        values.read(0, &mut ids)?;
        Ok(StoredIds { values, loaded: Some((ids, reserved)) })
    }

    /// Number of nodes.
    pub(crate) fn count(&self) -> u64 {
        EdgeValues::<i64>::count(&self.values)
    }

    /// Replaces nodes, which must be below [`count`](Self::count), by their ids.
    pub(crate) fn replace(&self, nodes: &mut [u64]) -> Result<()> {
        if let Some((ids, _)) = &self.loaded {
            nodes.iter_mut().for_each(|node| *node = ids[*node as usize] as u64);
            return Ok(());
        }
        let mut order: Vec<u32> = (0..nodes.len() as u32).collect();
        order.sort_unstable_by_key(|&at| nodes[at as usize]);
        let (mut block, mut first) = (Vec::new(), 0);
        for at in order {
            let node = nodes[at as usize];
            if node.wrapping_sub(first) >= block.len() as u64 {
                first = node / BLOCK * BLOCK;
                block.resize((self.count() - first).min(BLOCK) as usize, 0);
                self.values.read(first, &mut block)?;
            }
            nodes[at as usize] = block[(node - first) as usize] as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use graphmill_disk::Backend;
    use graphmill_format::{ElementType, Header, TableShape};

    #[test]
    fn ids_are_the_same_whether_they_fit_into_memory_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ids.gd");
        let ids: Vec<i64> = (0..100_000).map(|node| (node * 7919) % 1_000_003).collect();
        let bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
        let shape = TableShape::vector(ids.len() as u64, ElementType::I64).unwrap();
        crate::write_table(&path, shape, [Ok(&bytes)], false).unwrap();
        let file = graphmill_disk::open(&path, Backend::Pread).unwrap();
        let start = std::fs::read(&path).unwrap();
        let header = Header::parse(&start, file.len()).unwrap();
        let section = *header.table_section().unwrap();
        let nodes: Vec<u64> = (0..50_000).map(|at| (at * 31_337) % 100_000).collect();
        let expected: Vec<u64> = nodes.iter().map(|&node| ids[node as usize] as u64).collect();
        for (memory, fits) in [(64 << 20, true), (1 << 20, false)] {
            let values = StoredValues { file: file.clone(), section };
            let stored = StoredIds::load(values, &Budget::new(memory)).unwrap();
            assert_eq!((stored.loaded.is_some(), stored.count()), (fits, 100_000));
            let mut found = nodes.clone();
            stored.replace(&mut found).unwrap();
            assert!(found == expected);
        }
    }
}
