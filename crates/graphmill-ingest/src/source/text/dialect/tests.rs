//! What the first lines of a text say about all of it.

use super::*;

const EDGES: Rule<'static> = Rule::Edges { text_ids: false, ends: [None; 2], others: [None; 2] };
const WORDS: Rule<'static> = Rule::Edges { text_ids: true, ends: [None; 2], others: [None; 2] };

fn of(bytes: &[u8], rule: Rule<'_>, header: Option<bool>) -> Result<Dialect> {
    let budget = Budget::new(1 << 20);
    let forced = Forced { delimiter: None, header, rule, rows: None };
    let reserve = |bytes, what: String| budget.reserve(bytes, &what);
    Dialect::of(bytes, true, forced, reserve).map(Option::unwrap)
}

fn dialect(text: &str) -> Dialect {
    of(text.as_bytes(), EDGES, None).unwrap()
}

#[test]
fn the_delimiter_is_found() {
    for (text, delimiter) in [
        ("1,2\n", Delimiter::Comma),
        ("1, 2\n3, 4\n", Delimiter::Comma),
        ("# FromNodeId\tToNodeId, x\n1\t2\n", Delimiter::Tab),
        ("1;2;3,5\n", Delimiter::Semicolon),
        ("1 2\n", Delimiter::Blanks),
        ("  1   2 0,5\n", Delimiter::Blanks),
        ("1 \t 2\n", Delimiter::Tab),
        ("from node;to node, or so\n1;2\n", Delimiter::Semicolon),
        ("src,dst\n", Delimiter::Comma),
        ("\"1\",\"2\"\n", Delimiter::Comma),
        ("5\n", Delimiter::Comma),
    ] {
        assert_eq!(dialect(text).delimiter, delimiter, "{text:?}");
    }
}

#[test]
fn the_delimiter_of_words_is_the_one_that_most_lines_have() {
    for (text, delimiter) in [
        ("ada,bob\n", Delimiter::Comma),
        ("New York,Paris\nParis,New York\n", Delimiter::Comma),
        (" ada , bob\t\ncy,dee\n", Delimiter::Comma),
        ("a, b\tc\nd\te\n", Delimiter::Tab),
        ("ada bob\ncy dee\n", Delimiter::Blanks),
    ] {
        let dialect = of(text.as_bytes(), WORDS, Some(false)).unwrap();
        assert_eq!(dialect.delimiter, delimiter, "{text:?}");
    }
}

#[test]
fn a_header_starts_behind_marks_comments_and_blank_lines() {
    assert_eq!(dialect("src,dst\n1,2\n").header_at, Some(0));
    assert_eq!(dialect("\u{FEFF}# x\n\n\"a b\",dst,3\n1,2,3\n").header_at, Some(8));
    assert_eq!(dialect("").header_at, None);
    let forced = |text: &str, header| of(text.as_bytes(), EDGES, Some(header)).unwrap();
    assert_eq!(forced("1,2\n3,4\n", true).header_at, Some(0));
    assert_eq!(forced("src,dst\n3,4\n", false).header_at, None);
}

#[test]
fn comments_in_front_end_at_the_first_line_that_may_be_a_row() {
    for (text, end) in [
        ("# x\n1,2\n", 4),
        ("\u{FEFF}%\n\n1,2\n", 5),
        ("#\n#tag,1\n1,2\n", 2),
        ("1,2\n# x\n", 0),
        ("# x\n", 4),
    ] {
        assert_eq!(dialect(text).comments_end, end, "{text:?}");
    }
}

#[test]
fn columns_are_found_by_name_or_number() {
    let named = dialect("src,dst, W \n1,2,3\n");
    assert_eq!(named.place(&Column::Name("w".to_owned())).unwrap(), 2);
    assert_eq!(named.place(&Column::Index(7)).unwrap(), 7);
    let error = named.place(&Column::Name("time".to_owned())).unwrap_err().to_string();
    assert!(error.contains("src, dst, W") && error.contains("\"time\""), "{error}");
    assert!(dialect("1,2\n").place(&Column::Name("w".to_owned())).is_err());
}

#[test]
fn a_first_line_in_doubt_stops_with_its_number() {
    let error = of(b"# people\nwho,friend\na,b\n", WORDS, None).unwrap_err().to_string();
    assert!(error.contains("line 2: found \"who,friend\""), "{error}");
}

#[test]
fn what_is_no_text_is_refused() {
    for bytes in [&b"\xFF\xFE1\0,\0"[..], b"PAR1\0\0\0"] {
        assert!(of(bytes, EDGES, None).is_err());
    }
}

#[test]
fn columns_beyond_the_budget_are_refused_with_their_line() {
    let wide = ",".repeat(1 << 17);
    let error = of(wide.as_bytes(), EDGES, None).unwrap_err().to_string();
    assert!(error.contains("131073 columns in line 1"), "{error}");
}
