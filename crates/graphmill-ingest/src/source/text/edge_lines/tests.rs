//! Both ways of reading lines, against each other and against an obvious reader.

use super::*;
use proptest::prelude::*;

fn read(lines: EdgeLines, text: &str) -> (EdgeChunk, Parsed) {
    let mut padded = text.as_bytes().to_vec();
    if !padded.is_empty() && !padded.ends_with(b"\n") {
        padded.push(b'\n');
    }
    let end = padded.len();
    // Digits behind the end must not be taken for a part of the last number.
    padded.extend([b'7'; 64]);
    let (mut chunk, mut parsed) = (EdgeChunk::default(), Parsed::default());
    lines.parse(&padded, end, &mut chunk, &mut parsed);
    (chunk, parsed)
}

fn lines(delimiter: Delimiter, columns: EdgeColumns, on_bad_row: OnBadRow) -> EdgeLines {
    EdgeLines { delimiter, columns, on_bad_row, fast: true, names: false }
}

fn plain(weight: Option<usize>, time: Option<usize>) -> EdgeColumns {
    EdgeColumns { source: 0, destination: 1, weight, time }
}

/// A line as an obvious reader sees it, by the csv crate and the standard library.
fn naive(line: &str, delimiter: Delimiter, columns: EdgeColumns) -> Result<Option<Edge>, ()> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let bare = line.trim_matches([' ', '\t']);
    let is_comment = bare.starts_with(['#', '%']);
    if bare.is_empty() || is_comment && !may_be_a_row(bare, columns) {
        return Ok(None);
    }
    let joined = match delimiter {
        Delimiter::Blanks => {
            bare.split([' ', '\t']).filter(|f| !f.is_empty()).collect::<Vec<_>>().join(" ")
        }
        _ => line.to_owned(),
    };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(delimiter.byte())
        .quoting(false)
        .flexible(true)
        .from_reader(joined.as_bytes());
    let record = reader.byte_records().next().ok_or(())?.map_err(|_| ())?;
    if is_comment {
        return if record.len() < columns.needed() { Ok(None) } else { Err(()) };
    }
    let field = |column: usize| {
        let text = record.get(column).and_then(|text| std::str::from_utf8(text).ok());
        text.map(|text| text.trim_matches([' ', '\t'])).ok_or(())
    };
    let whole = |column: usize| -> Result<i128, ()> {
        let text = field(column)?;
        let (text, zeros) = text.split_once('.').unwrap_or((text, ""));
        if !zeros.bytes().all(|byte| byte == b'0') {
            return Err(());
        }
        // What stands before the point may be left out, as in `.0`.
        let nothing_before = matches!(text, "" | "-") && !zeros.is_empty();
        if nothing_before { Ok(0) } else { text.parse::<i128>().map_err(|_| ()) }
    };
    let id = |column: usize| {
        whole(column)?
            .try_into()
            .map_err(|_| ())
            .and_then(|id: u64| if id > i64::MAX as u64 { Err(()) } else { Ok(id) })
    };
    let weight = |column: usize| match field(column)?.parse::<f32>() {
        Ok(weight) if weight >= 0.0 && weight.is_finite() => Ok(weight),
        _ => Err(()),
    };
    let time = |column: usize| i64::try_from(whole(column)?).map_err(|_| ());
    Ok(Some(Edge {
        source: id(columns.source)?,
        destination: id(columns.destination)?,
        weight: columns.weight.map_or(Ok(0.0), weight)?,
        time: columns.time.map_or(Ok(0), time)?,
    }))
}

/// Whether the first field of what looks like a comment may be anything, and no blank says that it is one.
fn may_be_a_row(line: &str, columns: EdgeColumns) -> bool {
    let EdgeColumns { source, destination, weight, time } = columns;
    let is_read = [Some(source), Some(destination), weight, time].contains(&Some(0));
    !is_read && line.trim_start_matches(['#', '%']).starts_with(|next| !matches!(next, ' ' | '\t'))
}

fn any_columns() -> impl Strategy<Value = EdgeColumns> {
    let value = || proptest::option::of(0_usize..4);
    let mixed = (0_usize..4, 0_usize..4, value(), value()).prop_map(
        |(source, destination, weight, time)| EdgeColumns { source, destination, weight, time },
    );
    prop_oneof![
        Just(plain(None, None)),
        Just(plain(Some(2), None)),
        Just(plain(Some(3), Some(2))),
        mixed
    ]
}

fn any_delimiter() -> impl Strategy<Value = Delimiter> {
    proptest::sample::select(Delimiter::ALL.to_vec())
}

/// Mostly numbers, mostly separated, often not.
fn hostile_line() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        8 => any::<u32>().prop_map(|id| id.to_string()),
        2 => any::<u64>().prop_map(|id| id.to_string()),
        2 => (0_u64..1 << 40).prop_map(|id| format!("{id}.0")),
        1 => any::<i64>().prop_map(|id| id.to_string()),
        1 => any::<f32>().prop_map(|weight| weight.to_string()),
        1 => "[0-9]{14,20}",
        1 => "-?[0-9]{0,2}\\.0{0,2}",
        1 => "[-+.eE0-9a-f\"]{0,6}",
    ];
    let between = prop_oneof![8 => Just(","), 1 => Just(", "), 1 => Just("\t"), 1 => Just(" "),
                              1 => Just(";"), 1 => Just("  "), 1 => Just(" ,")];
    let end = prop_oneof![8 => Just(""), 1 => Just("\r"), 1 => Just(" "), 1 => Just(","), 1 => Just("\t")];
    let row =
        (proptest::collection::vec((number, between), 0..5), end).prop_map(|(fields, end)| {
            let mut line = String::new();
            for (index, (number, between)) in fields.iter().enumerate() {
                if index > 0 {
                    line.push_str(between);
                }
                line.push_str(number);
            }
            line + end
        });
    prop_oneof![9 => row, 1 => "[ #%\",0-9]{0,8}", 1 => "\\PC{0,8}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn the_fast_way_and_the_careful_way_agree(
        text in proptest::collection::vec(hostile_line(), 0..12),
        delimiter in any_delimiter(), columns in any_columns(), skip: bool,
    ) {
        let on_bad_row = if skip { OnBadRow::Skip } else { OnBadRow::Stop };
        let text = text.join("\n");
        let fast = lines(delimiter, columns, on_bad_row);
        let (mut ours, mut parsed) = read(fast, &text);
        let (mut slow, slow_parsed) = read(EdgeLines { fast: false, ..fast }, &text);
        if parsed.stopped {
            // Rows before the fault are thrown away by the reader.
            (ours, slow) = Default::default();
            parsed.rows = slow_parsed.rows;
        }
        prop_assert_eq!(ours, slow);
        prop_assert_eq!(parsed, slow_parsed);
    }

    #[test]
    fn lines_without_quotes_are_read_as_an_obvious_reader_reads_them(
        text in proptest::collection::vec(hostile_line(), 0..12),
        delimiter in any_delimiter(), columns in any_columns(),
    ) {
        let text: Vec<String> =
            text.into_iter().filter(|line| !line.contains(['"', 'e', 'E', '+', '\n'])).collect();
        let reader = lines(delimiter, columns, OnBadRow::Skip);
        let mut edges = Vec::new();
        let mut bad = 0;
        for line in &text {
            match naive(line, delimiter, columns) {
                Ok(edge) => edges.extend(edge),
                Err(()) => bad += 1,
            }
        }
        let (chunk, parsed) = read(reader, &text.join("\n"));
        prop_assert_eq!(parsed.skipped, bad, "{:?} {:?}", text, parsed.faults);
        prop_assert_eq!(chunk.sources, edges.iter().map(|e| e.source).collect::<Vec<_>>());
        prop_assert_eq!(chunk.destinations, edges.iter().map(|e| e.destination).collect::<Vec<_>>());
        if columns.weight.is_some() && !text.is_empty() {
            prop_assert_eq!(chunk.weights.unwrap_or_default(), edges.iter().map(|e| e.weight).collect::<Vec<_>>());
        }
        if columns.time.is_some() && !text.is_empty() {
            prop_assert_eq!(chunk.times.unwrap_or_default(), edges.iter().map(|e| e.time).collect::<Vec<_>>());
        }
    }
}

#[test]
fn faults_name_line_column_and_text() {
    let read = |text: &str, columns| {
        let (_, parsed) = read(lines(Delimiter::Comma, columns, OnBadRow::Stop), text);
        assert!(parsed.stopped, "{text:?}");
        let fault = &parsed.faults[0];
        format!("{}: {} / {}", fault.place(0), fault.found, fault.expected)
    };
    let plain_read = |text| read(text, plain(None, None));
    assert_eq!(plain_read("1,2\n3,x\n"), "line 2, column 2: \"x\" / a node id from 0 to 2^63 - 1");
    assert!(plain_read("-1,2").starts_with("line 1, column 1: \"-1\""));
    assert!(plain_read("1,9223372036854775808").starts_with("line 1, column 2: \"9223"));
    assert!(plain_read("1,1.5").contains("\"1.5\""));
    assert_eq!(plain_read("#\n\n5\n"), "line 3: 1 field / at least 2");
    assert!(plain_read("1,,2").contains("an empty field"));
    assert!(plain_read("1,\"2\n3\",4").starts_with("line 1, column 2: a quote"));
    assert!(plain_read("1,2,\"a\n3,4").starts_with("line 1, column 3: a quote"));
    let weighted = |text| read(text, plain(Some(2), None));
    assert!(weighted("1,2,-1").starts_with("line 1, column 3: \"-1\" / a weight"));
    assert!(weighted("1,2,nan").contains("\"nan\""));
    assert!(weighted("1,2\n").contains("2 fields / at least 3"));
}
