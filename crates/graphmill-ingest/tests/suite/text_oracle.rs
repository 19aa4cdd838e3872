//! Random texts against what was put into them: edges, tables by position, tables by id and lists,
//! of numbers and of words, in every dialect. What goes in comes out, or the file is refused; a
//! line that vanishes or a header that becomes a row is neither.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use graphmill_disk::Budget;
use graphmill_format::ElementType;
use graphmill_ingest::source::{
    Column, EdgeChunk, EdgeInput, EdgeInputOptions, TableChunk, TableInput, TableInputOptions,
};
use graphmill_rounds::{piece, rounds};

/// Chance, repeatable from a number.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    /// A word as ids and classes are: blanks, quotes, signs and delimiters included.
    fn word(&mut self) -> String {
        let pieces = ["a", "b", "Zoë", "n7", "x y", " ", "\"", ",", ";", "\t", "#", "%", "-", "/"];
        let mut word = String::new();
        while word.trim_matches([' ', '\t']).is_empty() {
            word.clear();
            for _ in 0..=self.below(3) {
                word.push_str(self.pick(&pieces));
            }
        }
        word
    }
}

/// How a text is written.
struct Dialect {
    delimiter: &'static str,
    return_too: bool,
    /// Blanks around numbers.
    padding: bool,
}

impl Dialect {
    fn roll(dice: &mut Dice) -> Self {
        let delimiter = dice.pick(&[",", "\t", ";", " "]);
        Dialect { delimiter, return_too: dice.chance(4), padding: dice.chance(4) }
    }

    /// A word as a field, in quotes where it would be read as something else without.
    fn word(&self, word: &str, first: bool, dice: &mut Dice) -> String {
        let is_edged = word.starts_with([' ', '\t']) || word.ends_with([' ', '\t']);
        let needs = word.contains(['"', ',', ';', '\t'])
            || (self.delimiter == " " && word.contains(' '))
            || (first && (word.trim_start().starts_with(['#', '%']) || is_edged))
            || word.is_empty();
        if needs || dice.chance(6) {
            format!("\"{}\"", word.replace('"', "\"\""))
        } else {
            word.to_owned()
        }
    }

    fn number(&self, number: impl std::fmt::Display, dice: &mut Dice) -> String {
        match dice.below(if self.padding && self.delimiter != " " { 3 } else { 1 }) {
            0 => number.to_string(),
            1 => format!(" {number}"),
            _ => format!("{number} "),
        }
    }

    fn line(&self, fields: &[String]) -> String {
        fields.join(self.delimiter) + if self.return_too { "\r\n" } else { "\n" }
    }

    fn delimiter(&self) -> graphmill_ingest::source::Delimiter {
        if self.delimiter == " " { "space" } else { self.delimiter }.parse().unwrap()
    }
}

/// What a first line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Header {
    None,
    Known,
    Unknown,
}

impl Header {
    fn roll(dice: &mut Dice) -> Self {
        [Header::None, Header::Known, Header::Unknown][dice.below(3)]
    }
}

fn in_file<T>(text: &str, run: impl FnOnce(&Path) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("source");
    std::fs::write(&path, text).unwrap();
    run(&path)
}

fn without_last_end(mut text: String, dice: &mut Dice) -> String {
    if dice.chance(4) {
        let kept = text.trim_end_matches(['\r', '\n']).len();
        // A blank last line needs its end to be a line.
        if kept > 0 && text[kept..].matches('\n').count() == 1 {
            text.truncate(kept);
        }
    }
    text
}

/// An edge with its weight, ids as words or digits.
type Edge = (String, String, Option<f32>);

fn read_edges(text: &str, options: &EdgeInputOptions) -> Result<Vec<Edge>, String> {
    in_file(text, |path| {
        let input = EdgeInput::open(&[PathBuf::from(path)], options).map_err(|e| e.to_string())?;
        let found: Mutex<Vec<(u64, Edge)>> = Mutex::default();
        let consume = |chunk: &mut EdgeChunk| {
            let mut found = found.lock().unwrap();
            for at in 0..chunk.len() {
                let id = |numbers: &[u64], names: &graphmill_ingest::source::TextCells| {
                    names.get(at).map_or_else(|| numbers[at].to_string(), str::to_owned)
                };
                let source = id(&chunk.sources, &chunk.source_names);
                let destination = id(&chunk.destinations, &chunk.destination_names);
                let weight = chunk.weights.as_ref().map(|weights| weights[at]);
                found.push((chunk.first_row + at as u64, (source, destination, weight)));
            }
            Ok(())
        };
        input.read(&Budget::new(16 << 20), &consume, None).map_err(|e| e.to_string())?;
        let mut found = found.into_inner().unwrap();
        found.sort_by_key(|(row, _)| *row);
        Ok(found.into_iter().map(|(_, edge)| edge).collect())
    })
}

/// One file of edges, and what was put into it.
fn try_edges(dice: &mut Dice) {
    let words = dice.chance(2);
    let mut dialect = Dialect::roll(dice);
    dialect.padding &= !words;
    let header = Header::roll(dice);
    let rows = 1 + dice.below(12);
    let nodes: Vec<String> = (0..1 + dice.below(8))
        .map(|_| if words { dice.word() } else { dice.below(100).to_string() })
        .collect();
    // The columns in any order: sources, destinations, weights and something else.
    let mut columns = vec!["source", "destination", "weight", "extra"];
    columns.truncate(2 + dice.below(3));
    for at in (1..columns.len()).rev() {
        columns.swap(at, dice.below(at + 1));
    }
    let place = |name: &str| columns.iter().position(|column| *column == name);
    let (source, destination) = (place("source").unwrap(), place("destination").unwrap());
    let name = |column: &str| match (column, header) {
        ("source", Header::Known) => "From".to_owned(),
        ("destination", Header::Known) => "to_id".to_owned(),
        (other, _) => format!("the-{other}"),
    };
    let (mut text, mut expected) = (String::new(), Vec::new());
    if dice.chance(4) {
        text.push_str("# from the web\n% 3 edges\n\n");
    }
    if header != Header::None {
        let names: Vec<String> = columns.iter().map(|column| name(column)).collect();
        text.push_str(&dialect.line(&names));
    }
    for _ in 0..rows {
        let ends = [dice.below(nodes.len()), dice.below(nodes.len())];
        let weight = dice.below(1000) as f32 / 8.0;
        let fields: Vec<String> = columns
            .iter()
            .enumerate()
            .map(|(at, column)| {
                let mut id = |node: &str| match words {
                    true => dialect.word(node, at == 0, dice),
                    false => dialect.number(node, dice),
                };
                match *column {
                    "source" => id(&nodes[ends[0]]),
                    "destination" => id(&nodes[ends[1]]),
                    "weight" => dialect.number(weight, dice),
                    _ => "e".to_owned(),
                }
            })
            .collect();
        text.push_str(&dialect.line(&fields));
        let weight = place("weight").map(|_| weight);
        expected.push((nodes[ends[0]].clone(), nodes[ends[1]].clone(), weight));
        if dice.chance(8) {
            text.push_str(dice.pick(&["\n", "# a remark\n", "  \n"]));
        }
    }
    let text = without_last_end(text, dice);
    let mut options = EdgeInputOptions::new().text_ids(words).delimiter(dialect.delimiter());
    let named = header != Header::None && dice.chance(2);
    let mut asks = false;
    if let Some(weight) = place("weight") {
        asks = named;
        options = options.weight_column(match named {
            true => Column::Name(name("weight")),
            false => Column::Index(weight),
        });
    }
    // Names lead to the endpoints, and order does if nothing else stands before them.
    let others: Vec<&&str> = columns.iter().filter(|column| **column != "weight").collect();
    let in_order = *others[0] == "source" && *others[1] == "destination";
    if header != Header::Known && (!in_order || dice.chance(2)) {
        asks = named;
        options = match named {
            true => options
                .source_column(Column::Name(name("source")))
                .destination_column(Column::Name(name("destination"))),
            false => options
                .source_column(Column::Index(source))
                .destination_column(Column::Index(destination)),
        };
    }
    let forced = dice.chance(3);
    if forced {
        options = options.header(header != Header::None);
    }
    let certain = forced || header == Header::Known || asks || (!words && header == Header::None);
    match read_edges(&text, &options) {
        Ok(found) => assert_eq!(found, expected, "{text:?} with {options:?}"),
        Err(error) => {
            let doubts = error.contains("may name columns or be a row");
            assert!(doubts && !certain, "{error}\n{text:?} with {options:?}");
        }
    }
}

/// What came out of a table.
#[derive(Debug, Default, PartialEq)]
struct Rows {
    ids: Vec<String>,
    numbers: Vec<i64>,
    words: Vec<String>,
}

fn read_table(text: &str, options: &TableInputOptions) -> Result<Rows, String> {
    in_file(text, |path| {
        let options = options.clone().ordered(true);
        let input =
            TableInput::open(&[PathBuf::from(path)], &options).map_err(|e| e.to_string())?;
        let found: Mutex<Rows> = Mutex::default();
        let consume = |chunk: &mut TableChunk| {
            let mut found = found.lock().unwrap();
            found.ids.extend(chunk.ids.iter().flatten().map(u64::to_string));
            let names = chunk.id_names.iter().flat_map(|names| names.iter());
            found.ids.extend(names.map(str::to_owned));
            found
                .numbers
                .extend(chunk.bytes.as_chunks().0.iter().map(|cell| i64::from_le_bytes(*cell)));
            found.words.extend(chunk.texts.iter().map(str::to_owned));
            Ok(())
        };
        input.read(&Budget::new(16 << 20), &consume, None).map_err(|e| e.to_string())?;
        Ok(found.into_inner().unwrap())
    })
}

/// One table without ids: labels of one or more columns, with gaps and blank lines.
fn try_positions(dice: &mut Dice) {
    let dialect = Dialect::roll(dice);
    let words = dice.chance(3);
    let columns = if words || dice.chance(2) { 1 } else { 2 + dice.below(2) };
    let header = Header::roll(dice);
    let delimiter = if columns == 1 { "," } else { dialect.delimiter };
    let dialect = Dialect { delimiter, ..dialect };
    let (mut text, mut expected) = (String::new(), Rows::default());
    if dice.chance(4) {
        text.push_str("# labels\n#\n");
    }
    let classes: Vec<String> = (0..4).map(|_| dice.word()).collect();
    if header != Header::None {
        let known = ["label", "y", "kind"];
        let name = |at: usize| match header {
            Header::Known => known[at].to_owned(),
            _ => format!("genre{at}"),
        };
        text.push_str(&dialect.line(&(0..columns).map(name).collect::<Vec<_>>()));
    }
    let mut comment = false;
    for _ in 0..1 + dice.below(12) {
        let mut fields = Vec::new();
        for at in 0..columns {
            let gap = dice.chance(4);
            if words {
                let word = if gap { "" } else { &classes[dice.below(4)][..] };
                expected.words.push(if is_gap(word) { String::new() } else { word.to_owned() });
                fields.push(dialect.word(word, at == 0, dice));
            } else if gap {
                let spelling = dice.pick(&["", "NA", "nan", "?", "-", "null", "N/A"]);
                // Blanks that separate would swallow an empty field.
                let spelling =
                    if delimiter == " " && spelling.is_empty() { "NA" } else { spelling };
                expected.numbers.push(-1);
                fields.push(spelling.to_owned());
            } else {
                let label = dice.below(2000) as i64 - 1000;
                expected.numbers.push(label);
                fields.push(dialect.number(label, dice));
            }
        }
        text.push_str(&dialect.line(&fields));
        if dice.chance(20) {
            text.push_str("# a remark\n");
            comment = true;
        }
        if dice.chance(10) {
            text.push_str(dice.pick(&["\n", " \n", "\r\n"]));
            match words {
                true => expected.words.push(String::new()),
                false => expected.numbers.extend(std::iter::repeat_n(-1, columns)),
            }
        }
    }
    let text = without_last_end(text, dice);
    let mut options = TableInputOptions::new().delimiter(dialect.delimiter());
    options = match words {
        true => options.text(true),
        false => options.element(ElementType::I64).missing(-1),
    };
    let forced = dice.chance(3);
    if forced {
        options = options.header(header != Header::None);
    }
    match read_table(&text, &options) {
        Ok(found) => {
            assert!(!comment, "a comment between rows passed: {text:?}");
            assert_eq!(found, expected, "{text:?} with {options:?}");
        }
        Err(error) => {
            let doubts = error.contains("may name columns or be a row");
            let doubts = doubts && !forced && (words || header != Header::None);
            let remark = comment && error.contains("may be a comment or a row");
            assert!(doubts || remark, "{error}\n{text:?} with {options:?}");
        }
    }
}

/// Whether a class is one of the spellings of missing values that words here can have.
fn is_gap(word: &str) -> bool {
    matches!(word.trim_matches([' ', '\t']), "-" | "")
}

/// One table with a column of ids, or a list of them: blank lines and comments are no rows.
fn try_ids(dice: &mut Dice) {
    let dialect = Dialect { padding: false, ..Dialect::roll(dice) };
    let (words, list) = (dice.chance(2), dice.chance(3));
    let at_end = dice.chance(2) && !list;
    let (mut text, mut expected) = (String::new(), Rows::default());
    let delimiter = if list { "," } else { dialect.delimiter };
    let dialect = Dialect { delimiter, ..dialect };
    let row = |id: String, cell: String| match (list, at_end) {
        (true, _) => vec![id],
        (false, true) => vec![cell, id],
        (false, false) => vec![id, cell],
    };
    if !list || dice.chance(2) {
        let id = dice.pick(&["id", "Node_ID"]).to_owned();
        text.push_str(&dialect.line(&row(id, "x".to_owned())));
    }
    for _ in 0..1 + dice.below(10) {
        let (id, cell) = match words {
            true => (dice.word(), dice.below(50)),
            false => (dice.below(1000).to_string(), dice.below(50)),
        };
        let field = if words { dialect.word(&id, !at_end, dice) } else { id.clone() };
        text.push_str(&dialect.line(&row(field, cell.to_string())));
        match (list, words) {
            (true, true) => expected.words.push(id),
            (true, false) => expected.numbers.push(id.parse().unwrap()),
            (false, _) => {
                expected.ids.push(id);
                expected.numbers.push(cell as i64);
            }
        }
        if dice.chance(8) {
            text.push_str(dice.pick(&["\n", "# a remark\n", "%\n"]));
        }
    }
    let text = without_last_end(text, dice);
    let options =
        TableInputOptions::new().delimiter(dialect.delimiter()).list(list).positional(list);
    let options = match (list, words) {
        (true, true) => options.text(true),
        (_, words) => options.element(ElementType::I64).text_ids(words && !list),
    };
    let found = read_table(&text, &options);
    assert_eq!(found.as_ref(), Ok(&expected), "{text:?} with {options:?}");
}

#[test]
fn what_stands_in_a_text_comes_out_or_is_refused() {
    for round in 0..rounds(2_000) as u64 {
        let mut dice = Dice((piece() << 32) + round);
        try_edges(&mut dice);
        try_positions(&mut dice);
        try_ids(&mut dice);
    }
}
