//! The two file layouts of GraphZero 0.2, read as they are and written on request.
//!
//! They have no version, no checksum and no room for more, so every number of their headers is recomputed here and
//! compared with the file's length. The result is the same [`GraphLayout`] and [`TableShape`] that our own files give,
//! so that nothing further down has to know the difference.

use crate::bytes::{printable, put, u32_at, u64_at};
use crate::{
    Direction, DirectionSections, ElementType, Error, GraphLayout, ListOrder, Result, Section,
    SectionKind, TableShape,
};

/// The first bytes of a GraphZero `.gl`.
pub const GRAPH_MAGIC: [u8; 8] = *b"graphlit";
/// The first bytes of a GraphZero `.gd`.
pub const TABLE_MAGIC: [u8; 8] = *b"GZDATA26";
/// Length of the header of a GraphZero `.gl`.
pub const GRAPH_HEADER_LENGTH: u64 = 64;
/// Length of the header of a GraphZero `.gd`.
pub const TABLE_HEADER_LENGTH: u64 = 32;

const ALIGNMENT: u64 = 64;
const WEIGHTED: u64 = 1;
const ELEMENTS: [ElementType; 4] =
    [ElementType::I32, ElementType::I64, ElementType::F32, ElementType::F64];

/// Lays out a GraphZero `.gl` and returns it with the length of the file.
pub fn graph_layout(num_nodes: u64, num_edges: u64, weighted: bool) -> Result<(GraphLayout, u64)> {
    let section = |kind, element, after: u64, count| {
        let offset = after.checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX);
        Section::new(kind, Some(Direction::Out), element, offset, count)
    };
    let lists = num_nodes
        .checked_add(1)
        .ok_or_else(|| Error::impossible("graph", format!("{num_nodes} nodes")))?;
    let offsets = section(SectionKind::Offsets, ElementType::U64, GRAPH_HEADER_LENGTH, lists)?;
    let neighbours = section(SectionKind::Neighbours, ElementType::I64, offsets.end(), num_edges)?;
    let weights = if weighted {
        Some(section(SectionKind::Weights, ElementType::F32, neighbours.end(), num_edges)?)
    } else {
        None
    };
    let length = weights.map_or(neighbours.end(), |weights| weights.end());
    let direction = Direction::Out;
    let sections = DirectionSections {
        direction,
        offsets,
        neighbours,
        edge_ids: None,
        weights,
        cumulative_weights: None,
        edge_times: None,
    };
    let layout = GraphLayout {
        num_nodes,
        num_edges,
        undirected: false,
        order: ListOrder::File,
        directions: vec![sections],
        original_ids: None,
    };
    Ok((layout, length))
}

/// The header of a GraphZero `.gl` with this layout.
pub fn encode_graph_header(layout: &GraphLayout) -> [u8; GRAPH_HEADER_LENGTH as usize] {
    let lists = &layout.directions[0];
    let fields = [
        lists.offsets.length(),
        lists.neighbours.length(),
        lists.offsets.offset,
        lists.neighbours.offset,
        layout.num_nodes,
        layout.num_edges,
        if lists.weights.is_some() { WEIGHTED } else { 0 },
    ];
    let mut header = [0; GRAPH_HEADER_LENGTH as usize];
    put(&mut header, 0, &GRAPH_MAGIC);
    for (index, field) in fields.into_iter().enumerate() {
        put(&mut header, 8 + 8 * index, &field.to_le_bytes());
    }
    header
}

/// Reads the header of a GraphZero `.gl` that is `file_length` bytes long.
pub fn parse_graph(bytes: &[u8], file_length: u64) -> Result<GraphLayout> {
    let header =
        header_of(bytes, file_length, GRAPH_MAGIC, GRAPH_HEADER_LENGTH, "a GraphZero topology")?;
    let (num_nodes, num_edges, flags) =
        (u64_at(header, 40), u64_at(header, 48), u64_at(header, 56));
    if flags > WEIGHTED {
        return Err(Error::field("flags", 56, flags, "0 or 1 (weights)"));
    }
    let lie = |error: Error| {
        Error::field("nodes and edges", 40, format!("{num_nodes}, {num_edges}"), error)
    };
    let (layout, expected) = graph_layout(num_nodes, num_edges, flags == WEIGHTED).map_err(lie)?;
    let computed = encode_graph_header(&layout);
    let names = ["", "indptr bytes", "indices bytes", "indptr offset", "indices offset"];
    for (index, &field) in names.iter().enumerate().skip(1) {
        let (found, expected) = (u64_at(header, 8 * index), u64_at(&computed, 8 * index));
        if found != expected {
            return Err(Error::field(field, 8 * index as u64, found, expected));
        }
    }
    check_length(file_length, expected)?;
    Ok(layout)
}

/// The header of a GraphZero `.gd`; its four element types are all that it can store.
pub fn encode_table_header(shape: &TableShape) -> Result<[u8; TABLE_HEADER_LENGTH as usize]> {
    let code =
        ELEMENTS.iter().position(|&element| element == shape.element()).ok_or_else(|| {
            let problem = format!(
                "elements are {}, it stores int32, int64, float32, float64",
                shape.element()
            );
            Error::impossible("GraphZero table", problem)
        })?;
    let mut header = [0; TABLE_HEADER_LENGTH as usize];
    put(&mut header, 0, &TABLE_MAGIC);
    put(&mut header, 12, &(code as u32).to_le_bytes());
    put(&mut header, 16, &shape.rows().to_le_bytes());
    put(&mut header, 24, &shape.columns().to_le_bytes());
    Ok(header)
}

/// Reads the header of a GraphZero `.gd` that is `file_length` bytes long.
pub fn parse_table(bytes: &[u8], file_length: u64) -> Result<(TableShape, Section)> {
    let header =
        header_of(bytes, file_length, TABLE_MAGIC, TABLE_HEADER_LENGTH, "a GraphZero table")?;
    let (flags, code) = (u32_at(header, 8), u32_at(header, 12));
    if flags != 0 {
        return Err(Error::field("flags", 8, flags, 0));
    }
    let element = *ELEMENTS
        .get(code as usize)
        .ok_or_else(|| Error::field("element type", 12, code, "0 to 3"))?;
    let (rows, columns) = (u64_at(header, 16), u64_at(header, 24));
    let lie =
        |error: Error| Error::field("rows and columns", 16, format!("{rows}, {columns}"), error);
    let shape = TableShape::matrix(rows, columns, element).map_err(lie)?;
    let count = rows * columns;
    let section =
        Section::new(SectionKind::Table, None, element, TABLE_HEADER_LENGTH, count).map_err(lie)?;
    check_length(file_length, section.end())?;
    Ok((shape, section))
}

fn header_of<'a>(
    bytes: &'a [u8],
    file_length: u64,
    magic: [u8; 8],
    length: u64,
    expected: &'static str,
) -> Result<&'a [u8]> {
    if !bytes.starts_with(&magic) {
        return Err(Error::Magic { expected, found: printable(bytes) });
    }
    bytes.get(..length as usize).ok_or(Error::Length {
        found: file_length,
        expected: length,
        why: "a header alone is that long",
    })
}

fn check_length(found: u64, expected: u64) -> Result<()> {
    let why = "its header says so";
    if found == expected { Ok(()) } else { Err(Error::Length { found, expected, why }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_header_leads_back_to_its_layout() {
        for (nodes, edges, weighted) in [(0, 0, false), (5, 4, true), (1 << 40, 1 << 45, true)] {
            let (layout, length) = graph_layout(nodes, edges, weighted).unwrap();
            assert_eq!(parse_graph(&encode_graph_header(&layout), length), Ok(layout.clone()));
            assert!(parse_graph(&encode_graph_header(&layout), length + 1).is_err());
        }
    }

    #[test]
    fn claims_that_overflow_are_refused() {
        let (layout, length) = graph_layout(3, 4, false).unwrap();
        let mut header = encode_graph_header(&layout);
        for at in [40, 48] {
            let mut lying = header;
            put(&mut lying, at, &u64::MAX.to_le_bytes());
            assert!(matches!(parse_graph(&lying, length), Err(Error::Field { .. })));
        }
        put(&mut header, 8, &999_u64.to_le_bytes());
        assert_eq!(parse_graph(&header, length), Err(Error::field("indptr bytes", 8, 999, 32)));
    }

    #[test]
    fn a_table_header_leads_back_to_its_shape() {
        for element in ELEMENTS {
            let shape = TableShape::matrix(7, 3, element).unwrap();
            let header = encode_table_header(&shape).unwrap();
            let (back, section) = parse_table(&header, 32 + shape.length()).unwrap();
            assert_eq!((back, section.offset), (shape, 32));
        }
        let half = TableShape::matrix(7, 3, ElementType::F16).unwrap();
        assert!(encode_table_header(&half).is_err());
    }
}
