//! The Python literal inside a `.npy` header: a dict of three known keys.
//! A reader of exactly that grammar: strings without escapes, `True` and `False`, tuples of whole
//! numbers. Everything else is refused, and nothing is ever evaluated.

use super::wrong;
use crate::Result;

/// More than NumPy's own limit.
const MOST_DIMENSIONS: usize = 64;

/// The three entries of a header.
pub(super) struct Literal {
    pub(super) descr: String,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<u64>,
}

/// Reads the text that starts at byte `at` of the file.
pub(super) fn parse(text: &[u8], at: usize) -> Result<Literal> {
    let mut reader = Reader { text, position: 0, at };
    let (mut descr, mut fortran_order, mut shape) = (None, None, None);
    reader.expect(b'{')?;
    while !reader.takes(b'}') {
        let key = reader.string()?;
        reader.expect(b':')?;
        let fresh = match key.as_str() {
            "descr" => descr.replace(reader.descr()?).is_none(),
            "fortran_order" => fortran_order.replace(reader.boolean()?).is_none(),
            "shape" => shape.replace(reader.shape()?).is_none(),
            _ => false,
        };
        if !fresh {
            let found = format!("key {key:?}");
            return Err(reader.fault(found, "descr, fortran_order and shape, each once"));
        }
        if !reader.takes(b',') {
            reader.expect(b'}')?;
            break;
        }
    }
    reader.end()?;
    match (descr, fortran_order, shape) {
        (Some(descr), Some(fortran_order), Some(shape)) => {
            Ok(Literal { descr, fortran_order, shape })
        }
        _ => Err(reader.fault("fewer keys", "descr, fortran_order and shape")),
    }
}

struct Reader<'a> {
    text: &'a [u8],
    position: usize,
    at: usize,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.position) == Some(&b' ') {
            self.position += 1;
        }
        self.text.get(self.position).copied()
    }

    fn takes(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.position += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.takes(byte) {
            return Ok(());
        }
        let found = self.found();
        Err(self.fault(found, format!("{:?}", char::from(byte))))
    }

    fn string(&mut self) -> Result<String> {
        let quote = if self.peek() == Some(b'"') { b'"' } else { b'\'' };
        self.expect(quote)?;
        let rest = &self.text[self.position..];
        let plain = |byte: &u8| byte.is_ascii_graphic() && *byte != b'\\' && *byte != quote;
        let length = rest.iter().take_while(|byte| plain(byte)).count();
        let text = String::from_utf8_lossy(&rest[..length]).into_owned();
        self.position += length;
        self.expect(quote)?;
        Ok(text)
    }

    fn descr(&mut self) -> Result<String> {
        if self.peek() == Some(b'[') {
            let expected = "one type for all numbers";
            return Err(self.fault("a structured type with fields", expected));
        }
        self.string()
    }

    fn boolean(&mut self) -> Result<bool> {
        self.peek();
        let rest = &self.text[self.position..];
        for (word, value) in [("True", true), ("False", false)] {
            if rest.starts_with(word.as_bytes()) {
                self.position += word.len();
                return Ok(value);
            }
        }
        let found = self.found();
        Err(self.fault(found, "True or False"))
    }

    fn shape(&mut self) -> Result<Vec<u64>> {
        self.expect(b'(')?;
        let mut sides = Vec::new();
        while !self.takes(b')') {
            sides.push(self.number()?);
            if sides.len() > MOST_DIMENSIONS {
                return Err(self.fault("more dimensions", format!("at most {MOST_DIMENSIONS}")));
            }
            let comma = self.takes(b',');
            // A single side without a comma is a number in parentheses, not a shape.
            if !comma && (sides.len() == 1 || self.peek() != Some(b')')) {
                let found = self.found();
                return Err(self.fault(found, "',' after a side of the shape"));
            }
        }
        Ok(sides)
    }

    fn number(&mut self) -> Result<u64> {
        self.peek();
        let rest = &self.text[self.position..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let digits = std::str::from_utf8(&rest[..length]).unwrap_or_default();
        match digits.parse() {
            Ok(number) => {
                self.position += length;
                Ok(number)
            }
            Err(_) => {
                let found = self.found();
                Err(self.fault(found, "a whole number below 2^64"))
            }
        }
    }

    /// Only spaces and the final line end may follow.
    fn end(&mut self) -> Result<()> {
        let last = self.peek();
        let rest = &self.text[self.position..];
        if last.is_none() || rest == b"\n" {
            return Ok(());
        }
        let found = self.found();
        Err(self.fault(found, "the end of the header"))
    }

    fn found(&self) -> String {
        match self.text.get(self.position) {
            Some(byte) => format!("\"{}\"", byte.escape_ascii()),
            None => "the end of the header".to_owned(),
        }
    }

    fn fault(
        &self,
        found: impl std::fmt::Display,
        expected: impl std::fmt::Display,
    ) -> crate::Error {
        let remedy = "save a plain array of numbers with numpy.save";
        wrong(self.at + self.position, found, expected, remedy)
    }
}
