//! Whether a first line names its columns.
//! Where rows start with numbers, a line that does not is a header; where ids are words, only the
//! usual names of columns tell one. The dialect of a file asks here unless the user has said it.
//! It must not know delimiters.

use super::number::{is_boolean, is_number};
use crate::source::options::Column;

/// Names that make a column of a table the one of ids.
pub(crate) const ID_NAMES: [&str; 2] = ["id", "node_id"];
/// Names of columns that hold an end of an edge or the id of a node.
const USUAL_NAMES: [&str; 27] = [
    "src",
    "source",
    "from",
    "dst",
    "dest",
    "destination",
    "target",
    "to",
    "id",
    "node",
    "node_id",
    "nodeid",
    "src_id",
    "source_id",
    "sourceid",
    "from_id",
    "fromid",
    "from_node_id",
    "fromnodeid",
    "dst_id",
    "destination_id",
    "target_id",
    "targetid",
    "to_id",
    "toid",
    "to_node_id",
    "tonodeid",
];

/// Names under which words that stand alone are classes.
const CLASS_NAMES: [&str; 8] =
    ["label", "labels", "class", "classes", "category", "kind", "type", "y"];

/// The rule for ids that are numbers: both first fields are none.
///
/// In a table, the words true and false are no names, and a field that stands alone may be a class
/// as well as a name: numbers or booleans below it tell, or a usual name for classes.
pub(super) fn names_numbers(first: &[String], below: Option<&[String]>, table: bool) -> bool {
    let is_value =
        |text: &String| is_number(text.as_bytes()) || (table && is_boolean(text.as_bytes()));
    match first {
        [source, destination, ..] => !is_value(source) && !is_value(destination),
        [only] => {
            let over_values = below.is_some_and(|row| row.iter().all(is_value));
            let usual = CLASS_NAMES.iter().any(|name| only.eq_ignore_ascii_case(name));
            table && !is_value(only) && (over_values || usual)
        }
        [] => false,
    }
}

/// The rule for tables that begin with the id of a node, whatever their other columns are called: data frames number them.
pub(super) fn names_first_id(first: &[String], below: Option<&[String]>) -> bool {
    let is_name = |field: &String| {
        field.is_empty() || USUAL_NAMES.iter().any(|name| field.eq_ignore_ascii_case(name))
    };
    first.first().is_some_and(is_name) || names_numbers(first, below, true)
}

/// The rule for ids that are words: each column of ids has a usual name, or the one asked for.
///
/// Without columns, which only tables are, one must be called as ids are.
pub(super) fn names_words(first: &[String], ids: &[Column]) -> bool {
    let called = |name: &str| first.iter().any(|field| field.eq_ignore_ascii_case(name));
    if ids.is_empty() {
        return ID_NAMES.into_iter().any(called);
    }
    ids.iter().all(|column| match column {
        Column::Name(name) => called(name),
        Column::Index(index) => first
            .get(*index)
            .is_some_and(|field| USUAL_NAMES.iter().any(|name| field.eq_ignore_ascii_case(name))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &str) -> Vec<String> {
        line.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn a_first_column_of_ids_may_stand_before_names_that_are_numbers() {
        for header in ["id,0,1", ",0,1", "node_id,0", "x,a,1"] {
            assert!(names_first_id(&fields(header), None), "{header}");
        }
        for row in ["0,5,6", "a,1,2", "0,a,b"] {
            assert!(!names_first_id(&fields(row), None), "{row}");
        }
        assert!(!names_first_id(&[], None));
    }

    #[test]
    fn words_are_a_header_only_under_usual_names_or_those_asked_for() {
        let ends = [Column::Index(0), Column::Index(1)];
        for line in ["src,dst", "Source,TARGET,weight", "from,to", "FromNodeId,ToNodeId"] {
            assert!(names_words(&fields(line), &ends), "{line}");
        }
        for line in ["alice,bob", "src,bob", "name,friend", "src"] {
            assert!(!names_words(&fields(line), &ends), "{line}");
        }
        let named = [Column::Name("Name".to_owned()), Column::Name("friend".to_owned())];
        assert!(names_words(&fields("age,name,FRIEND"), &named));
        assert!(!names_words(&fields("age,name"), &named));
        assert!(names_words(&fields("x,Node_ID"), &[]));
        assert!(!names_words(&fields("x,y"), &[]));
    }

    #[test]
    fn a_word_alone_is_a_header_over_values_or_under_a_usual_name() {
        let (words, numbers) = (fields("paper"), fields("1"));
        assert!(names_numbers(&fields("Kind"), Some(&words), true));
        assert!(names_numbers(&fields("venue"), Some(&numbers), true));
        assert!(!names_numbers(&fields("book"), Some(&words), true));
        assert!(!names_numbers(&fields("kind"), Some(&words), false));
    }

    #[test]
    fn booleans_are_values_of_tables() {
        let below = fields("true");
        assert!(names_numbers(&fields("is_train"), Some(&below), true));
        assert!(!names_numbers(&fields("False"), Some(&below), true));
        assert!(!names_numbers(&fields("true,false"), None, true));
        assert!(names_numbers(&fields("true,false"), None, false));
    }
}
