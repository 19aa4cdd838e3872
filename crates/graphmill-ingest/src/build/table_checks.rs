//! Tables that cannot be what they are given for.
//! Types that differ side by side, labels of several columns, rows of no node, and ids with gaps
//! that would fill the disk are named here. It must not know how rows are read or placed.

use graphmill_format::ElementType;

use super::node_tables::{Role, TableTask};
use crate::source::TableDescription;
use crate::{Error, Result};

/// The one type of sources that lie side by side.
pub(super) fn element_of(
    descriptions: &[TableDescription],
) -> std::result::Result<ElementType, String> {
    let first = descriptions[0].element;
    if descriptions.iter().any(|description| description.element != first) {
        let names = descriptions
            .iter()
            .map(|description| description.element.map_or("words", |element| element.name()));
        let names: Vec<&str> = names.collect();
        return Err(format!("its files hold {}; give --dtype", names.join(" and ")));
    }
    // Words become class numbers.
    Ok(first.unwrap_or(ElementType::I64))
}

/// Labels are one for each node, and so are words, which have one list of classes.
pub(super) fn check_columns(task: &TableTask<'_, '_>, columns: u64, words: bool) -> Result<()> {
    let remedy = match task.role {
        Role::Labels => "choose one with --label-column (label_column=)",
        Role::Other if words => "give each a table of its own, or numbers",
        _ => return Ok(()),
    };
    if columns == 1 {
        return Ok(());
    }
    let place = format!("table {:?}", task.name);
    Err(Error::source(place, format!("{columns} columns"), "one column", remedy))
}

pub(super) fn unknown(task: &TableTask<'_, '_>, row: u64, id: impl std::fmt::Display) -> Error {
    let place = format!("table {:?}, row {row}", task.name);
    Error::source(place, format!("the id {id}"), "the id of a node", "correct the column of ids")
}

/// Ids of a table may leave gaps, but not a table of gaps.
pub(super) fn refuse_scattered_rows(
    task: &TableTask<'_, '_>,
    needed: u64,
    rows: u64,
) -> Result<()> {
    const MOST: u64 = 64;
    if needed <= (rows + 1).saturating_mul(MOST).saturating_add(1 << 20) {
        return Ok(());
    }
    let place = format!("table {:?}", task.name);
    let found = format!("a largest id of {} in {rows} rows", needed - 1);
    let remedy = "number the nodes with --map-ids, or correct the column of ids";
    Err(Error::source(place, found, "ids without such gaps", remedy))
}
