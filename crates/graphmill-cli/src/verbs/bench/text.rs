//! The report of a benchmark, as a person wants to read it.
//! First the machine and the graph, then one figure a line. It must not know where figures come from.

use super::Told;
use super::figure::{Figure, Section};
use super::machine::Machine;
use crate::columns::{Row, columns, row};
use crate::counts::{counted, grouped};
use graphmill::disk::format_size;

/// The whole text, each line ended.
pub fn describe(told: &Told) -> String {
    let mut lines = vec![
        format!("graphmill {} on {}", told.graphmill, machine(&told.machine)),
        format!(
            "{}: R-MAT of {} nodes and {} edges, {} features, seed {}",
            told.size.name(),
            grouped(told.num_nodes),
            grouped(told.num_edges),
            told.features,
            told.seed
        ),
        format!(
            "{}, {} of memory, medians of {}",
            counted(told.threads as u64, "thread", "threads"),
            format_size(told.memory),
            counted(told.repeats.into(), "repeat", "repeats")
        ),
    ];
    if let Some(disk) = &told.disk {
        lines.push(format!(
            "disk: {} random reads of 4 KiB a second, {}/s from front to back",
            grouped(disk.random_4k_per_second as u64),
            format_size(disk.sequential_bytes_per_second as u64)
        ));
    }
    for section in &told.sections {
        lines.push(section.name.to_owned());
        lines.extend(columns(rows(section)));
    }
    lines.join("\n") + "\n"
}

fn machine(machine: &Machine) -> String {
    let mut words = vec![counted(machine.cores as u64, "core", "cores")];
    words.extend(machine.processor.clone());
    words.extend(machine.memory_bytes.map(|bytes| format!("{} of memory", format_size(bytes))));
    let limit = machine.cgroup_limit_bytes.map(format_size);
    words.extend(limit.map(|limit| format!("limited to {limit}")));
    words.push(match &machine.kernel {
        Some(kernel) => format!("{} {kernel}", machine.system),
        None => machine.system.to_owned(),
    });
    words.extend(machine.file_system.clone());
    words.join(", ")
}

fn rows(section: &Section) -> Vec<Row> {
    let figures = section.figures.iter().map(figure_row);
    let missing = section.missing.iter();
    figures
        .chain(missing.map(|missing| row([&missing.name, "not measured", &missing.reason])))
        .collect()
}

fn figure_row(figure: &Figure) -> Row {
    let spread = match figure.repeats {
        1 => String::new(),
        _ => format!("{} to {}", number(figure.lowest), number(figure.highest)),
    };
    let limit = figure.limit.as_ref();
    let limit = limit.map(|limit| format!("{:.0}% of {}", limit.share * 100.0, limit.name));
    let words: Vec<String> = [
        figure.threads.map(|threads| counted(threads as u64, "thread", "threads")),
        figure.state.map(|state| state.name().to_owned()),
        figure.note.clone(),
        limit,
    ]
    .into_iter()
    .flatten()
    .collect();
    let value = format!("{} {}", number(figure.median), figure.unit);
    vec![figure.name.clone(), value, spread, words.join(", ")]
}

/// Whole where the fraction says nothing.
fn number(value: f64) -> String {
    if value >= 1000.0 { grouped(value.round() as u64) } else { format!("{value:.1}") }
}
