//! Ids that are words.
//! Text files, Parquet and memory all take the same things for a name: text in UTF-8, exactly as it
//! stands, which is neither blank nor endless. It must not know which column or row it is in.

use super::faults::RowFault;

/// The longest name of a node.
pub(crate) const LONGEST_NAME: usize = 64 << 10;
/// What a message says a name may be.
pub(crate) const WANTED_NAME: &str = "1 to 65536 bytes of text in UTF-8";

/// Why a text is no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoName {
    /// There is nothing but blanks.
    Empty,
    /// It is longer than any name.
    TooLong(usize),
    /// It is no text.
    NotUtf8,
}

impl NoName {
    /// What a message says was found, and what to do.
    pub(crate) fn told(self) -> (String, &'static str) {
        match self {
            NoName::Empty => ("no text".to_owned(), "fill it or leave the row out"),
            NoName::TooLong(length) => {
                (format!("a text of {length} bytes"), "is this the right column?")
            }
            NoName::NotUtf8 => ("bytes that are no text".to_owned(), "save the file as UTF-8"),
        }
    }

    pub(crate) fn at(self, place: String) -> RowFault {
        let (found, remedy) = self.told();
        RowFault { place, found, expected: WANTED_NAME.to_owned(), remedy }
    }
}

/// The name that some bytes are; blanks around it belong to it.
pub(crate) fn name(text: &[u8]) -> Result<&str, NoName> {
    if super::text::trim(text).is_empty() {
        return Err(NoName::Empty);
    }
    if text.len() > LONGEST_NAME {
        return Err(NoName::TooLong(text.len()));
    }
    std::str::from_utf8(text).map_err(|_| NoName::NotUtf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_text_of_some_length_exactly_as_it_stands() {
        assert_eq!(name(b" ada lovelace\t"), Ok(" ada lovelace\t"));
        assert_eq!(name(" \t".as_bytes()), Err(NoName::Empty));
        assert_eq!(name(b"\xFF"), Err(NoName::NotUtf8));
        assert!(name(&[b'a'; LONGEST_NAME]).is_ok());
        assert_eq!(name(&[b'a'; LONGEST_NAME + 1]), Err(NoName::TooLong(LONGEST_NAME + 1)));
    }
}
