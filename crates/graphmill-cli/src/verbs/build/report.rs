//! The report at the end of a build.
//! One line for each part: what was read, what was left out or filled, what it cost. It must not know how anything was
//! built.

use crate::counts::{counted, grouped};
use graphmill::disk::{Budget, format_size, peak_memory};
use graphmill::format::Direction;
use graphmill::ingest::build::{BuildReport, TableReport};
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

/// All of it.
pub fn text(out: &Path, report: &BuildReport, elapsed: Duration, budget: &Budget) -> String {
    let mut text = String::new();
    let mut line = |name: &str, content: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {name:<10} {content}");
    };
    line("edges", edges(report));
    line("degrees", degrees(report));
    for table in &report.tables {
        line(&table.name, table_line(table, report));
    }
    for (name, count) in &report.splits {
        line(name, counted(*count, "node", "nodes"));
    }
    line(
        "written",
        format!(
            "{} in {:.2} s: {}",
            format_size(report.bytes()),
            elapsed.as_secs_f64(),
            stages(report)
        ),
    );
    line("memory", memory(report, budget));
    let node = report.manifest.node();
    let edge = report.manifest.edge();
    let kind = if edge.undirected { "undirected edges, stored both ways" } else { "edges" };
    let order = match report.manifest.order.as_str() {
        "none" => String::new(),
        order => format!(", {order} order"),
    };
    format!(
        "{}: {} nodes, {} {kind}{order}\n{text}",
        out.display(),
        grouped(node.count),
        grouped(edge.count)
    )
}

/// What was left out although it was there, for stderr.
pub fn skipped(report: &BuildReport) -> String {
    let mut text = String::new();
    let tables = report.tables.iter().map(|table| (table.name.as_str(), &table.read));
    for (name, read) in [("edges", &report.edges)].into_iter().chain(tables) {
        if read.skipped == 0 {
            continue;
        }
        let rows = counted(read.skipped, "row", "rows");
        let _ = writeln!(text, "warning: {rows} of {name} skipped");
        for row in read.bad_examples.iter().take(3) {
            let _ = writeln!(text, "  {row}");
        }
    }
    text
}

fn edges(report: &BuildReport) -> String {
    let mut text = format!("{} read", counted(report.edges.rows, "row", "rows"));
    let topology = &report.topology;
    let left_out = [
        (report.edges.skipped, "skipped"),
        (topology.duplicates_dropped, "duplicates dropped"),
        (topology.self_loops_dropped, "self loops dropped"),
    ];
    for (count, what) in left_out {
        if count > 0 {
            let _ = write!(text, ", {} {what}", grouped(count));
        }
    }
    if topology.spilled > 0 {
        let _ = write!(text, ", {} through scratch files", format_size(topology.spilled));
    }
    text
}

fn degrees(report: &BuildReport) -> String {
    let nodes = report.manifest.node().count.max(1);
    let mean = report.manifest.edge().count as f64 / nodes as f64;
    let lists = report.topology.lists.iter().map(|lists| {
        let name = match lists.direction {
            Direction::In => "in: ",
            Direction::Out => "out: ",
            _ => "",
        };
        let without = report.manifest.node().count - lists.non_empty;
        format!("{name}at most {}, {} without", grouped(lists.longest), grouped(without))
    });
    let lists: Vec<String> = lists.collect();
    format!("mean {mean:.1}; {}", lists.join("; "))
}

fn table_line(table: &TableReport, report: &BuildReport) -> String {
    let rows = match table.of_edges {
        true => report.manifest.edge().source_rows,
        false => report.manifest.node().count,
    };
    let mut text = format!("{} [{}, {}]", table.element, grouped(rows), grouped(table.columns));
    if table.classes > 0 {
        let _ = write!(text, ", {}", counted(table.classes as u64, "class", "classes"));
    }
    let notes = [
        (table.filled, "without a source, filled"),
        (table.read.skipped, "skipped"),
        (table.duplicates, "given twice, the first kept"),
    ];
    for (count, what) in notes {
        if count > 0 {
            let _ = write!(text, ", {} {what}", counted(count, "row", "rows"));
        }
    }
    text
}

fn stages(report: &BuildReport) -> String {
    let stages = report.stages.iter().filter(|(_, time)| time.as_millis() > 0);
    let stages = stages.map(|(name, time)| format!("{name} {:.2} s", time.as_secs_f64()));
    stages.collect::<Vec<_>>().join(", ")
}

fn memory(report: &BuildReport, budget: &Budget) -> String {
    let (used, total) = (format_size(report.peak_memory), format_size(budget.total()));
    let budgeted = format!("{used} of the memory budget of {total} in use");
    match peak_memory() {
        Some(peak) => format!("{} resident at most, {budgeted}", format_size(peak)),
        None => budgeted,
    }
}
