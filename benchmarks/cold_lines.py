"""Lines about rows on disk, with nothing of them in the page cache: few, many, and whether we tell what was read."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks import rates
from benchmarks.child import CORES, Figures
from benchmarks.contest import Contestant, Outcome, Outcomes
from benchmarks.device_profile import profile
from benchmarks.feature_bench import FeatureBench
from benchmarks.feature_inputs import ROW, Asked
from benchmarks.musts import Must
from benchmarks.readers import Fio, Reader
from benchmarks.readers.graphmill import BACKENDS

#: Backends that the targets are for; the fallback is shown beside them.
HELD_TO = ["auto", "ring"]


def sparse(bench: FeatureBench) -> None:
    """Few rows of a large file, against what the disk gives and against page faults."""
    asked = bench.inputs.sparse()
    title = f"sparse: {asked.count:,} of {asked.rows:,} rows, cold, {CORES} threads"
    outcomes = hold(bench, title, asked, bench.all())
    random, faults = random_rate(bench, outcomes), rates.best(outcomes, ["numpy"])
    for backend, own in ours(outcomes):
        what = f"sparse, {backend}: over fio's random 4 KiB"
        bench.musts.append(Must(what, rates.over(own, random), at_least=0.85))
        what = f"sparse, {backend}: over np.memmap, MADV_RANDOM"
        times = rates.over(own, faults)
        bench.musts.append(Must(what, times, at_least=6.0, headline=backend == "auto"))


def dense(bench: FeatureBench) -> None:
    """A twentieth of all rows against single reads and against the best plan, then a quarter against a scan."""
    asked = bench.inputs.dense(5)
    title = f"dense: {asked.count:,} of {asked.rows:,} rows (5%), cold, {CORES} threads"
    # Page faults would take minutes and tell nothing that the sparse line does not.
    limits = [reader for name, reader in bench.peers.items() if name == "fio"]
    outcomes = hold(bench, title, asked, [bench.ours, *limits])
    random, allowed = random_rate(bench, outcomes), allowance(bench, asked)
    for backend, own in ours(outcomes):
        what = f"dense 5%, {backend}: over fio's random 4 KiB"
        bench.musts.append(Must(what, rates.over(own, random), at_least=1.0))
        what = f"dense 5%, {backend}: over what the profile allows"
        bench.musts.append(Must(what, rates.over(own, allowed), at_least=0.75))

    asked = bench.inputs.dense(25)
    title = f"dense: {asked.count:,} of {asked.rows:,} rows (25%), cold, against scans of the file"
    contestants = cold(bench, asked, [bench.ours])
    for reader in bench.peers.values():
        contestants += bench.contestants(
            reader.scan(asked), [asked.table], bench.check(asked), cold=True
        )
    outcomes = bench.hold(title, "rows", contestants)
    # One request at a time, as a plain scan does it; the deep one shows what would be possible.
    scan = rates.best(outcomes, ["dd", "fio, 1 MiB, depth 1"])
    for backend, own in ours(outcomes):
        what = f"dense 25%, {backend}: time over an O_DIRECT scan"
        bench.musts.append(Must(what, rates.over(scan, own), at_most=1.25))


def random_rate(bench: FeatureBench, outcomes: Outcomes) -> float | None:
    """The best that fio reached with random reads, in this contest or when all its settings were tried."""
    fio, in_turns = bench.peers.get("fio"), rates.highest(outcomes.get("fio, best"))
    if not isinstance(fio, Fio) or in_turns is None:
        return None
    return max(fio.swept, in_turns)


def allowance(bench: FeatureBench, asked: Asked) -> float | None:
    """Rows in a second that the profile of the disk allows, if there is one."""
    found = profile(bench.inputs.graphmill, asked)
    if found is None:
        print("  graphmill inspect --disk: no profile in this version")
        return None
    allowed = found.rate(asked)
    print(f"  the profile allows {allowed / 1e3:,.0f} k rows/s with merging")
    bench.results["profile"] = {"allowed": allowed, "bandwidth": found.bandwidth}
    return allowed


def honest(bench: FeatureBench) -> None:
    """What the statistics say was read, beside what the kernel counted, for few rows and for many."""
    honest_about(bench, bench.inputs.sparse(), "sparse")
    honest_about(bench, bench.inputs.dense(5), "dense 5%")


def honest_about(bench: FeatureBench, asked: Asked, name: str) -> None:
    """The same for one list of ids."""
    right = bench.check(asked)

    def check(figures: Figures) -> str:
        said = rates.told(figures)
        right(figures)
        return (
            f"{said['requested'] / 1e6:,.1f} MB told, {said['fetched'] / 1e6:,.1f} MB counted, "
            f"{said['amount'] * ROW / 1e6:,.1f} MB of rows"
        )

    commands = bench.ours.cold(asked, bench.kept)
    contestants = bench.contestants(commands, [asked.table], check, cold=True)
    outcomes = bench.hold(f"honest: {name}, bytes from disk", "rows", contestants)
    for backend in BACKENDS:
        off = percent_off(outcomes[f"graphmill {backend}"])
        what = f"honest, {name}, {backend}: bytes told, off by"
        bench.musts.append(Must(what, off, at_most=2.0, unit="%"))


def percent_off(outcome: Outcome) -> float | None:
    """By how much the statistics were wrong when they were most."""
    if outcome.failure is not None or not outcome.runs:
        return None
    said = map(rates.told, outcome.runs)
    return max(100 * abs(run["requested"] / run["fetched"] - 1) for run in said)


def hold(bench: FeatureBench, title: str, asked: Asked, readers: Iterable[Reader]) -> Outcomes:
    """Hold a contest about one list of ids."""
    return bench.hold(title, "rows", cold(bench, asked, readers))


def cold(bench: FeatureBench, asked: Asked, readers: Iterable[Reader]) -> list[Contestant]:
    """Contestants for one list of ids."""
    contestants: list[Contestant] = []
    for reader in readers:
        commands = reader.cold(asked, bench.kept)
        contestants += bench.contestants(commands, [asked.table], bench.check(asked), cold=True)
    return contestants


def ours(outcomes: Outcomes) -> list[tuple[str, float | None]]:
    """Our rate by each backend that targets are for."""
    return [(backend, rates.rate(outcomes[f"graphmill {backend}"])) for backend in HELD_TO]
