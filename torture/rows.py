"""The promises, in the order of ``docs/reliability.md``, and what is tried for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torture.instrumented import lacks_emulator
from torture.step import Step, fuzz, lacks_nightly, lacks_strace, python, rust, script

FUZZED = {
    "header": 40_000_000,
    **dict.fromkeys(
        [
            *("sealed_header", "offsets", "packed", "manifest", "sealed_manifest", "graphzero"),
            *("csv", "npy", "npz", "parquet"),
        ],
        5_000_000,
    ),
}


@dataclass(frozen=True)
class Row:
    """A promise and the steps that try to break it."""

    number: int
    promise: str
    steps: list[Step]


def rows() -> Iterator[Row]:
    """Every promise."""
    faults = ["leaves_the_old_or_the_new_state", "leaves_the_old_dataset_or_the_new_one"]
    yield Row(
        1,
        "no half-written dataset is ever accepted",
        [
            rust("graphmill-disk", faults[:1], "all operations, a file and a folder"),
            rust("graphmill-ingest", faults[1:], "all operations, datasets"),
        ],
    )
    kills = "a_killed_build_is_never_accepted"
    yield Row(
        2, "the same, as a real process", [rust("graphmill-cli", [kills], "kills", 5000, 500)]
    )
    yield Row(
        3,
        "the same, at each call of the kernel",
        [script("killed_calls", "calls killed", lacks=lacks_strace)],
    )
    bits = ["every_flipped_bit_of", "every_other_value_of_every_byte"]
    flips = "two_or_three_flipped_bits"
    yield Row(
        4,
        "header damage is always seen",
        [
            rust("graphmill-format", bits, "all bits, all values of all bytes"),
            rust("graphmill-format", [flips], "of each of 3 kinds", 1_000_000, 250_000),
        ],
    )
    found = "flipped_bits_are_found_and_their_block_is_named"
    yield Row(5, "data damage is found", [rust("graphmill-store", [found], "flips", 20_000, 4_000)])
    lengths = ["every_other_length", "a_length_that_the_header_confirms", "swapped_", "overlap"]
    yield Row(
        6, "wrong lengths are refused", [rust("graphmill-format", lengths, "all lengths, all lies")]
    )
    header = "checksummed_headers_survive_chance"
    others = [
        "sealed_headers_survive",
        "offsets_survive_chance",
        "packed_sequences_survive_changes",
    ]
    others += ["manifests_survive_chance", "graphzero_headers_survive_chance"]
    yield Row(
        7,
        "parsers survive anything",
        [
            *(fuzz(*target) for target in FUZZED.items()),
            rust("graphmill-format", [header], "blind changes", 40_000_000, 4_000_000),
            rust("graphmill-format", others, "blind changes of each", 5_000_000, 500_000),
            rust("graphmill-ingest", ["mutated_parquet_files"], "mutations", 1_000_000, 100_000),
        ],
    )
    budget, epoch = "memory_stays_within_the_budget", "an_epoch_stays_within_its_budget"
    yield Row(
        8,
        "memory stays within budget",
        [
            python("test_build_limits", budget, "budgets: 64, 128, 256 MiB", 3),
            python("test_loader_memory", epoch, "budgets: 32, 512 MiB", 2),
        ],
    )
    yield Row(
        9, "disk full is clean", [python("test_build_limits", "a_full_disk", "sizes, twice", 64)]
    )
    reads = ["error_at_any_read", "short_reads", "interrupted_reads", "busy_device", "direct_reads"]
    yield Row(10, "an I/O error is never wrong data", [rust("graphmill-disk", reads, "all reads")])
    yield Row(
        11,
        "signals do no harm",
        [
            rust("graphmill-disk", ["a_storm_of_signals"], "readings, each backend", 50),
            python("test_build_limits", "ctrl_c_ends", "interrupts", 50, each=True),
            rust("graphmill-cli", ["an_interrupted_"], "verbs"),
        ],
    )
    yield Row(
        12,
        "replacing under readers is safe",
        [python("test_replacement", "readers_of_a_replaced", "replacements", 200, 100)],
    )
    cut = ["truncation_under_a_reader", "truncation_before_or_during"]
    yield Row(
        13,
        "truncation under readers is an error",
        [
            rust("graphmill-disk", cut, "truncations", 100),
            rust("graphmill-store", ["truncated_while_it_is_verified"], "truncations", 100),
        ],
    )
    workers = "workers_of_a_data_loader"
    yield Row(
        14,
        "fork is safe",
        [
            python("test_fork", workers, "data loaders", 200, each=True),
            rust("graphmill-disk", ["children_of_a_parent"], "forks amid reads", 200, 50),
        ],
    )
    yield Row(
        15,
        "backends agree",
        [
            rust("graphmill-disk", ["random_ranges_equal"], "ranges", 100_000, 25_000),
            rust("graphmill-disk", ["where_rings_are_forbidden"], "refusals"),
        ],
    )
    yield Row(
        16,
        "same seed, same bytes",
        [
            python("test_same_bytes", "test", "threads x backends x prefetch"),
            rust("graphmill-sample", ["every_way_of_picking", "one_large_call"], "all ways"),
        ],
    )
    yield Row(
        17,
        "no undefined behaviour",
        [
            script("instrumented", "tests under ASan", "address", lacks=lacks_nightly),
            script("instrumented", "tests under Miri", "miri", lacks=lambda: lacks_nightly("miri")),
        ],
    )
    yield Row(
        18,
        "nothing leaks",
        [
            python("test_leaks", "leave_nothing", "openings of each kind", 1000),
            python("test_leaks", "epochs_do_not", "epochs", 100),
            rust("graphmill-disk", ["rounds_leave_the_same"], "openings, each backend", 1000),
        ],
    )
    outlive = "outlive_every_handle or private"
    yield Row(
        19,
        "views outlive their dataset and change no file",
        [python("test_views", outlive, "drop orders", 10_000, 2_000)],
    )
    yield Row(
        20,
        "one writer",
        [
            python("test_replacement", "exactly_one_wins", "races, three kinds", 100, 50),
            rust("graphmill-disk", ["of_two_"], "races, four kinds", 100),
        ],
    )
    yield Row(
        21,
        "old files stay readable",
        [rust("graphmill-format", ["golden", "unknown_incompatible", "major_version"], "all")],
    )
    attacks = ["every_attack_is_refused", "no_attack_is_taken", "nothing_was_run", "little_memory"]
    yield Row(
        22,
        "no code runs from data, no bomb explodes",
        [
            rust("graphmill-ingest", attacks, "all"),
            python("test_hostile", "mutated_files", "mutations of each of 6 kinds", 20_000, 5_000),
        ],
    )
    yield Row(
        23,
        "no argument crashes the process",
        [python("test_hostile", "arguments_of_every", "calls", 50_000, 5_000)],
    )
    yield Row(
        24,
        "threads and processes share a dataset",
        [python("test_concurrency", "test", "rounds of 64 threads, 8 processes", 50)],
    )
    old = "tests on a processor without AVX2"
    yield Row(
        25,
        "poor surroundings are survived",
        [
            python("test_surroundings", "test", "limits", 13, each=True),
            script("instrumented", old, "westmere", lacks=lacks_emulator),
        ],
    )
    exact = "weights_with_times_are_picked_by_exact_shares"
    yield Row(
        36,
        "weights and times together are exact",
        [rust("graphmill-sample", [exact], "samples", 1_000_000, 250_000)],
    )
    text = "what_stands_in_a_text_comes_out_or_is_refused"
    yield Row(
        37,
        "text is read as it stands",
        [rust("graphmill-ingest", [text], "texts of each of 3 kinds", 200_000, 50_000)],
    )
    yield Row(
        38,
        "what goes into a build comes out",
        [rust("graphmill-ingest", ["random_builds_hold"], "builds in 64 MiB", 20_000, 2_000)],
    )


ROWS = list(rows())
