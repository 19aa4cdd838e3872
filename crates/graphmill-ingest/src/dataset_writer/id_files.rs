//! The files that lead from the ids of the source to the numbers of the nodes.
//! A dataset has them when its nodes were renumbered: where the node with each id stands, and the
//! names of nodes whose ids were text. The original ids themselves are part of the topology. It
//! must not know why nodes were renumbered.

use graphmill_disk::OutputFile;
use graphmill_format::manifest::Names;
use graphmill_format::{ElementType, TableShape};

use super::{DatasetWriter, check_nodes, check_rows, node_of};
use crate::table_writer::{TableWriter, Written};
use crate::{Error, Result};

/// Readers take a longer name for a lie.
const LONGEST_NAME: usize = 1 << 16;

impl DatasetWriter {
    /// Writes the numbers of all nodes in ascending order of their original ids.
    ///
    /// Needed when the topology holds original ids that do not ascend with the numbers.
    pub fn id_places(&mut self, numbers: &[i64]) -> Result<()> {
        let num_nodes = self.manifest()?.node().count;
        check_rows("id-places", numbers.len() as u64, num_nodes, "node")?;
        check_nodes("places of ids", 0, numbers, num_nodes)?;
        let element = if num_nodes < 1 << 31 { ElementType::I32 } else { ElementType::I64 };
        let shape = TableShape::vector(num_nodes, element).map_err(Error::format(self.folder()))?;
        self.id_places_with(|file| write_values(TableWriter::new(file, shape)?, numbers))
    }

    /// The same, with a file that `write` fills: an `int32` or `int64` vector.
    pub(crate) fn id_places_with(
        &mut self,
        write: impl FnOnce(&dyn OutputFile) -> Result<Written>,
    ) -> Result<()> {
        self.manifest()?;
        let places = self.file("id-places", "gd", write)?;
        node_of(self.manifest_mut()?).ids.get_or_insert_default().places = Some(places);
        Ok(())
    }

    /// Writes the names of the nodes, for ids that were text: different ones in ascending order of
    /// their bytes, one for each node. The original id of a node is the place of its name.
    pub fn id_names<S: AsRef<str>>(&mut self, names: &[S]) -> Result<()> {
        let num_nodes = self.manifest()?.node().count;
        check_rows("id-names", names.len() as u64, num_nodes, "node")?;
        if let Some(at) = names.windows(2).position(|pair| pair[0].as_ref() >= pair[1].as_ref()) {
            let place = format!("names of nodes, position {}", at + 1);
            let expected = format!("a name after {:?}", names[at].as_ref());
            let remedy = "sort them by their bytes and drop duplicates";
            return Err(Error::source(place, names[at + 1].as_ref(), expected, remedy));
        }
        if let Some(at) = names.iter().position(|name| name.as_ref().len() > LONGEST_NAME) {
            let place = format!("names of nodes, position {at}");
            let found = format!("a name of {} bytes", names[at].as_ref().len());
            let expected = format!("at most {LONGEST_NAME}");
            return Err(Error::source(place, found, expected, "shorten it"));
        }
        let vector =
            |element| TableShape::vector(0, element).map_err(Error::format(self.draft.folder()));
        let (bytes, numbers) = (vector(ElementType::U8)?, vector(ElementType::I64)?);
        self.id_names_with(|text_file, ends_file| {
            let mut text = TableWriter::counting(text_file, bytes)?;
            let mut ends = Vec::with_capacity(names.len());
            for name in names {
                text.write_rows(name.as_ref().as_bytes())?;
                // Fits: so many bytes are in memory.
                ends.push(text.rows() as i64);
            }
            let ends = write_values(TableWriter::counting(ends_file, numbers)?, &ends)?;
            Ok((text.finish()?, ends))
        })
    }

    /// The same, with two files that `write` fills: all names as one vector of bytes, and where
    /// each ends as an `int64` vector.
    pub(crate) fn id_names_with(
        &mut self,
        write: impl FnOnce(&dyn OutputFile, &dyn OutputFile) -> Result<(Written, Written)>,
    ) -> Result<()> {
        self.manifest()?;
        let mut outer = None;
        let ends = self.file("id-ends", "gd", |ends_file| {
            let mut inner = None;
            let text = self.file("id-names", "gd", |text_file| {
                let (text, ends) = write(text_file, ends_file)?;
                inner = Some(ends);
                Ok(text)
            })?;
            outer = Some(text);
            Ok(inner.expect("the names were written, and with them their ends"))
        });
        let Some(text) = outer else { return ends.map(drop) };
        let ends = ends.inspect_err(|_| self.remove(&text.name))?;
        let names = Names { text, ends };
        node_of(self.manifest_mut()?).ids.get_or_insert_default().names = Some(names);
        Ok(())
    }
}

/// Numbers as a vector of `int32` or `int64`, a piece at a time.
fn write_values(mut table: TableWriter<'_>, values: &[i64]) -> Result<Written> {
    let width = table.shape().row_length() as usize;
    for piece in values.chunks(1 << 16) {
        // The low bytes come first, and the caller chose a width that holds every value.
        let low = |value: &i64| value.to_le_bytes().into_iter().take(width);
        let bytes: Vec<u8> = piece.iter().flat_map(low).collect();
        table.write_rows(&bytes)?;
    }
    table.finish()
}
