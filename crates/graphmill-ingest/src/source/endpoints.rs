//! Which columns hold the endpoints of edges.
//! What the caller names counts first, then the usual names of the header, then the order of the
//! columns that nothing else is read from; where a header makes that order unlikely, the choice is
//! refused. Text, Parquet and data frames share this rule. It must not know how columns are read.

use super::chunk::TextCells;
use crate::error::Setting;
use crate::{Error, Result};

/// Names of sources, as [`plain`] leaves them.
const SOURCES: [&str; 11] = [
    "src", "source", "from", "u", "node1", "id1", "citing", "follower", "sender", "subject",
    "origin",
];
/// Names of destinations, likewise.
const DESTINATIONS: [&str; 14] = [
    "dst",
    "dest",
    "destination",
    "target",
    "to",
    "v",
    "node2",
    "id2",
    "cited",
    "followee",
    "followed",
    "receiver",
    "recipient",
    "object",
];
/// Names of columns that hold something else about an edge, or number it.
const OTHERS: [&str; 38] = [
    "",
    "id",
    "edgeid",
    "edge",
    "eid",
    "index",
    "idx",
    "unnamed0",
    "row",
    "rownum",
    "line",
    "weight",
    "w",
    "value",
    "score",
    "count",
    "time",
    "timestamp",
    "ts",
    "t",
    "date",
    "datetime",
    "year",
    "type",
    "kind",
    "label",
    "relation",
    "rel",
    "predicate",
    "r",
    "rating",
    "stars",
    "amount",
    "price",
    "distance",
    "length",
    "probability",
    "confidence",
];
/// Characters of a header that a message repeats.
const LONGEST_QUOTE: usize = 200;

/// What a name says about its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Source,
    Destination,
    /// Something that is no endpoint, or the number of the edge.
    Other,
    Unknown,
}

/// A name in lower case, without what separates its words and without `id` or `node` behind it.
fn plain(name: &str) -> String {
    let mut plain: String =
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    for suffix in ["id", "node", "vertex"] {
        if let Some(rest) = plain.strip_suffix(suffix)
            && !rest.is_empty()
            && is_endpoint_stem(rest.strip_suffix("node").unwrap_or(rest))
        {
            plain.truncate(rest.len());
        }
    }
    plain
}

fn is_endpoint_stem(stem: &str) -> bool {
    SOURCES.contains(&stem) || DESTINATIONS.contains(&stem)
}

fn role(name: &str) -> Role {
    // Longer ones are none of the names above, and a header may have millions of them.
    if name.len() > 32 {
        return Role::Unknown;
    }
    let plain = plain(name);
    match &plain[..] {
        name if SOURCES.contains(&name) => Role::Source,
        name if DESTINATIONS.contains(&name) => Role::Destination,
        name if OTHERS.contains(&name) => Role::Other,
        _ => Role::Unknown,
    }
}

/// Whether a column that is called so holds ids of nodes: endpoints, or simply nodes.
pub(crate) fn is_name_of_ids(name: &str) -> bool {
    let is_node = || {
        let plain: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
        ["id", "node", "nodeid"].iter().any(|known| plain.eq_ignore_ascii_case(known))
    };
    matches!(role(name), Role::Source | Role::Destination) || is_node()
}

/// Whether some names have both endpoints among them.
pub(crate) fn name_both(names: &TextCells) -> bool {
    let has = |wanted| names.iter().any(|name| role(name) == wanted);
    has(Role::Source) && has(Role::Destination)
}

/// The columns of sources and destinations among `columns`, counted from 0.
///
/// `taken` are the columns that something else is read from. A row may still lack the columns.
///
/// ```
/// use graphmill_ingest::source::{TextCells, endpoints};
///
/// # fn main() -> graphmill_ingest::Result<()> {
/// let names: TextCells = ["weight", "src", "dst"].into_iter().collect();
/// assert_eq!(endpoints(3, Some(&names), None, None, &[0])?, (1, 2));
/// assert_eq!(endpoints(3, None, None, None, &[0])?, (1, 2));
/// let doubtful: TextCells = ["id", "paper", "cites"].into_iter().collect();
/// assert!(endpoints(3, Some(&doubtful), None, None, &[]).is_err());
/// # Ok(())
/// # }
/// ```
pub fn endpoints(
    columns: usize,
    names: Option<&TextCells>,
    source: Option<usize>,
    destination: Option<usize>,
    taken: &[usize],
) -> Result<(usize, usize)> {
    if let (Some(source), Some(destination)) = (source, destination) {
        if source == destination {
            let found = format!("column {source} for both");
            return Err(doubt(found, "one column of sources and another of destinations"));
        }
        return Ok((source, destination));
    }
    let is_free = |column: &usize| {
        !taken.contains(column) && Some(*column) != source && Some(*column) != destination
    };
    let called = |wanted: Role| {
        let names = names.into_iter().flat_map(TextCells::iter).enumerate();
        let mut called = names.filter(|(at, name)| role(name) == wanted && is_free(at));
        match (called.next(), called.next()) {
            (Some((_, one)), Some((_, other))) => {
                Err(doubt(format!("the columns {one} and {other}"), "one of them"))
            }
            (first, _) => Ok(first.map(|(at, _)| at)),
        }
    };
    let source_called = if source.is_some() { source } else { called(Role::Source)? };
    let destination_called =
        if destination.is_some() { destination } else { called(Role::Destination)? };
    let mut free = (0..columns).filter(is_free);
    let others = [free.next(), free.next(), free.next()];
    match (source_called, destination_called) {
        (Some(source), Some(destination)) => Ok((source, destination)),
        (None, None) => {
            let mut first = (0..).filter(is_free);
            let pair = (first.next().unwrap_or(0), first.next().unwrap_or(1));
            check_order(names, &[pair.0, pair.1], others[2].is_some())?;
            Ok(pair)
        }
        (one, other) => {
            let known = one.or(other).unwrap_or(0);
            let mut rest = (0..).filter(is_free).filter(|column| *column != known);
            let partner = rest.next().unwrap_or(0);
            let is_last = rest.next().is_none_or(|next| next >= columns);
            // By name alone, the partner must be the only column that is left.
            let is_given = source.is_some() || destination.is_some();
            if !is_given && !is_last {
                return Err(doubt(header(names), "a name for the other endpoint too"));
            }
            check_order(names, &[partner], !is_last)?;
            Ok(if one.is_some() { (known, partner) } else { (partner, known) })
        }
    }
}

/// Refuses columns in the order of the file that are called as if they held something else, where
/// there are others that could be meant.
fn check_order(names: Option<&TextCells>, columns: &[usize], others: bool) -> Result<()> {
    let Some(names) = names else { return Ok(()) };
    let name = |column: &usize| names.get(*column);
    if columns.iter().any(|column| name(column) == Some("")) {
        let found = "a first column without a name, as an index written by pandas has";
        let mut error = doubt(found.to_owned(), "the names of two columns of ids");
        if let Error::Source { remedy, .. } = &mut error {
            *remedy = "write with index=False, or name the columns of sources and destinations";
        }
        return Err(error);
    }
    let is_other = |column: &usize| name(column).is_some_and(|name| role(name) == Role::Other);
    if others && columns.iter().any(is_other) {
        return Err(doubt(header(Some(names)), "names that say which columns hold the endpoints"));
    }
    Ok(())
}

/// The beginning of a header, as messages show it.
pub(crate) fn header(names: Option<&TextCells>) -> String {
    let mut shown = String::new();
    for name in names.into_iter().flat_map(TextCells::iter) {
        if !shown.is_empty() {
            shown.push_str(", ");
        }
        shown.extend(name.chars().take(LONGEST_QUOTE));
        if shown.chars().count() > LONGEST_QUOTE {
            let end = shown.char_indices().nth(LONGEST_QUOTE).map_or(shown.len(), |(at, _)| at);
            shown.truncate(end);
            return shown + "...";
        }
    }
    shown
}

fn doubt(found: String, expected: &str) -> Error {
    let remedy = "name the columns of sources and destinations";
    Error::source("columns", found, expected, remedy).setting(Setting::Endpoints)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str], taken: &[usize]) -> Option<(usize, usize)> {
        let cells: TextCells = names.iter().collect();
        endpoints(names.len(), Some(&cells), None, None, taken).ok()
    }

    #[test]
    fn endpoints_are_found_by_their_names_in_any_order() {
        for (names, expected) in [
            (&["src", "dst"][..], (0, 1)),
            (&["weight", "SRC", "Dst"], (1, 2)),
            (&["id", "Source_ID", "target id"], (1, 2)),
            (&["to", "time", "from"], (2, 0)),
            (&["w", "FromNodeId", "ToNodeId"], (1, 2)),
            (&["id_1", "id_2"], (0, 1)),
            (&["", "source", "destination"], (1, 2)),
            (&["dst", "neighbour"], (1, 0)),
            (&["subject", "predicate", "object"], (0, 2)),
            (&["paper", "cites", "venue"], (0, 1)),
            (&["id", "neighbour"], (0, 1)),
            (&["head", "tail"], (0, 1)),
        ] {
            assert_eq!(of(names, &[]), Some(expected), "{names:?}");
        }
        assert_eq!(of(&["src", "paper", "cites"], &[0]), Some((1, 2)));
    }

    #[test]
    fn a_doubtful_choice_is_refused() {
        for names in [
            &["id", "paper", "cites"][..],
            &["weight", "a", "b"],
            &["a", "relation", "b"],
            &["src", "source", "dst"],
            &["src", "a", "b"],
            &["", "a", "b"],
            &["", "a"],
            &["features", "from", "x", "y"],
        ] {
            assert_eq!(of(names, &[]), None, "{names:?}");
        }
        let same = endpoints(2, None, Some(1), Some(1), &[]).unwrap_err().to_string();
        assert!(same.contains("column 1 for both"), "{same}");
    }

    #[test]
    fn what_is_named_leaves_the_rest_to_names_and_order() {
        let names: TextCells = ["a", "b", "dst", "src"].into_iter().collect();
        let of = |names, source, destination, taken: &[usize]| {
            endpoints(4, names, source, destination, taken).unwrap()
        };
        assert_eq!(of(Some(&names), Some(0), None, &[]), (0, 2));
        assert_eq!(of(Some(&names), None, Some(0), &[]), (3, 0));
        assert_eq!(of(None, Some(1), None, &[0]), (1, 2));
        assert_eq!(of(None, None, Some(0), &[1]), (2, 0));
        // Rows that are too short are refused when they are read.
        assert_eq!(endpoints(1, None, None, None, &[]).unwrap(), (0, 1));
    }
}
