//! Whatever fails while nodes are numbered is an error, and never a wrong number.

use graphmill_disk::faults::{Fault, FaultyFileSystem};

use super::*;

/// Numbers scattered ids or names by heat within a tiny budget; gives the replayed edges.
fn number(files: Arc<dyn FileSystem>, folder: &std::path::Path, named: bool) -> Result<Vec<u64>> {
    let budget = Budget::new(2 << 20);
    let workspace = Workspace::new(&budget, files, &folder.join("x.gl"));
    let columns = LogColumns::default();
    let writer = EdgeLogWriter::new(&workspace, columns, 0)?;
    let ids = |first: u64, salt: u64| -> Vec<u64> {
        (first..first + 4000).map(|row| mixed(mixed(row + salt) % 50_000)).collect()
    };
    let firsts = (0..40_000).step_by(4000);
    let numbering = if named {
        let collector = NameCollector::new(&workspace, 1, 0)?;
        for first in firsts {
            let hashes = |ids: Vec<u64>| -> Result<Vec<u64>> {
                let (mut cells, mut hashes) = (TextCells::default(), Vec::new());
                ids.iter().for_each(|id| cells.push(&id.to_string()));
                collector.push(&cells, &mut hashes)?;
                Ok(hashes)
            };
            let (sources, to) = (hashes(ids(first, 1))?, hashes(ids(first, 2))?);
            writer.push(&EdgeChunk::new(first, &sources, &to))?;
        }
        let names = collector.finish(None)?.expect("no two of these names share a hash");
        Numbering::named(&workspace, names)?
    } else {
        let collector = IdCollector::new(&workspace, 0)?;
        for first in firsts {
            let (sources, to) = (ids(first, 1), ids(first, 2));
            collector.push(&sources)?;
            collector.push(&to)?;
            writer.push(&EdgeChunk::new(first, &sources, &to))?;
        }
        Numbering::mapped(&workspace, collector.finish(None)?)?
    };
    // The order that writes and reads most.
    let (numbering, log) =
        numbering.ordered(writer.finish()?, Order::Visits(Heat::at(End::Source)), None)?;
    let edges = replayed(columns, log.rows(), |stage, take| numbering.replay(&log, stage, take))?;
    let mut all = [edges.sources, edges.destinations].concat();
    let count = numbering.count();
    let mut originals = vec![0; count as usize];
    if let Some(ids) = numbering.original_ids(count)? {
        ids.read(0, &mut originals)?;
    }
    all.extend(originals.iter().map(|&id| id as u64));
    if named {
        let mut cells = TextCells::default();
        ids(0, 1).iter().for_each(|id| cells.push(&id.to_string()));
        assert_eq!(numbering.of_names(&cells, &mut all)?, Ok(()));
    } else {
        let mut asked = ids(0, 1);
        assert_eq!(numbering.of_ids(&mut asked)?, Ok(()));
        all.extend(asked);
    }
    Ok(all)
}

fn fail_everywhere(named: bool) {
    let folder = tempfile::tempdir().unwrap();
    let expected = number(Arc::new(RealFileSystem), folder.path(), named).unwrap();
    let disk = FaultyFileSystem::over(folder.path()).unwrap();
    assert!(number(Arc::new(disk.clone()), folder.path(), named).unwrap() == expected);
    let operations = disk.performed();
    let mut failed = 0;
    for operation in (0..operations + 3).step_by(1 + operations / 60) {
        for fault in [Fault::Error, Fault::FalseAlarm, Fault::PowerLoss] {
            let disk = FaultyFileSystem::over(folder.path()).unwrap();
            disk.plan(operation, fault);
            match number(Arc::new(disk), folder.path(), named) {
                Ok(numbers) => assert!(numbers == expected, "{operation} {fault:?}"),
                Err(Error::Disk(_)) => failed += 1,
                Err(other) => panic!("{operation} {fault:?}: {other}"),
            }
            // Scratch files have a name for a moment here, and keep it when the power goes then.
            for left in std::fs::read_dir(folder.path()).unwrap() {
                assert_eq!(fault, Fault::PowerLoss);
                std::fs::remove_file(left.unwrap().path()).unwrap();
            }
        }
    }
    assert!(failed > 100, "{failed}");
}

#[test]
fn a_fault_at_any_operation_of_mapping_is_an_error_and_never_a_wrong_number() {
    fail_everywhere(false);
}

#[test]
fn a_fault_at_any_operation_of_naming_is_an_error_and_never_a_wrong_number() {
    fail_everywhere(true);
}
