//! Lines whose cells stand below each other.
//! Reports are laid out here. It must not know what they tell.

/// A line of cells.
pub type Row = Vec<String>;

/// A line of these cells.
pub fn row<const N: usize>(cells: [&str; N]) -> Row {
    cells.map(str::to_owned).to_vec()
}

/// Rows as indented lines, each cell as wide as the widest of its column.
pub fn columns(rows: Vec<Row>) -> Vec<String> {
    let mut widths: Vec<usize> = Vec::new();
    for cells in &rows {
        widths.resize(widths.len().max(cells.len()), 0);
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: Row| {
        // Widths of a format end at 65,535, and a cell may come from a file.
        let padded = cells.iter().zip(&widths).map(|(cell, &width)| {
            cell.chars().chain(std::iter::repeat(' ')).take(width).collect::<String>()
        });
        format!("  {}", padded.collect::<Vec<_>>().join("  ")).trim_end().to_owned()
    };
    rows.into_iter().map(line).collect()
}
