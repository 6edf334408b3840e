"""Sections of `docs/benchmarks.md` about distributed fits."""

from environment import Json
from page import context, table

# Targets of distributed fits: time relative to the ordinary fit, and inertia above it in percent.
MAX_TIME_RATIO, MAX_GAP = 1.3, 0.1
WHY = (
    "In one process, rounds take about as long as sweeps of an ordinary fit. The fit of the sample and "
    "the repair, which waits for all shards twice, take longer. On Dask and Ray, a round has two waves "
    "of four dependent tasks each, and the driver decides after each wave: on small data, most of the "
    "time passes between the tasks."
)
# The result that `make test-cluster RESULTS=1` stores.
CONFORMANCE = "cluster_conformance"


def fits_section(result: Json) -> str:
    """Return the comparison of engines with the ordinary estimator."""
    rows = [
        [
            of_set,
            name,
            f"{of['seconds']:.1f} s",
            f"{of['time_ratio']:.2f}",
            f"{100 * (of['inertia_ratio'] - 1):+.2f} %",
            f"{of['rounds']:.0f}",
            f"`{of['labels'][:8]}`",
        ]
        for of_set, engines in result["sets"].items()
        for name, of in engines.items()
    ]
    header = ["data", "", "time", "relative time", "inertia", "sweeps or rounds", "hash of the labels"]
    return (
        f"## Distributed fits\n\n{result['n_shards']} shards; Dask and Ray with two single-threaded "
        f"workers, whose tasks for which all shards wait use two threads (`n_threads=2`). Times include "
        f"reading the files, but not the start of the workers. "
        f"{_repeats(result)} {context(result)}\n"
        f"{table(header, rows)}\n"
        f"Targets: {MAX_TIME_RATIO} times the time of the ordinary fit, and an inertia within "
        f"{MAX_GAP} %. {_targets(result)} All engines return the same labels. {WHY}\n"
    )


def _targets(result: Json) -> str:
    """Say which targets are met."""
    fits = [one for engines in result["sets"].values() for one in engines.values()]
    fast = sum(one["time_ratio"] <= MAX_TIME_RATIO for one in fits) - len(result["sets"])
    near = all(100 * (one["inertia_ratio"] - 1) <= MAX_GAP for one in fits)
    met = f"{fast or 'None'} of the {len(fits) - len(result['sets'])} distributed fits"
    return (
        f"{met} {'meets' if fast < 2 else 'meet'} the first, {'all' if near else 'not all'} the second."
    )


def _repeats(result: Json) -> str:
    """Say how often each fit ran. Files of version 0.10 have one number for all sets."""
    counts = result["repeats"]
    if isinstance(counts, int):
        counts = dict.fromkeys(result["sets"], counts)
    if set(counts.values()) == {1}:
        return "Each fit ran once."
    parts = [f"{'once' if n == 1 else f'{n} times'} ({name})" for name, n in counts.items()]
    return f"Each fit ran {', '.join(parts)}; the table has medians."


def peers_section(result: Json) -> str:
    """Return the comparison with other distributed libraries on one data set."""
    rows = [_peer_row(name, of) for name, of in result["peers"].items()]
    finals = ", ".join(
        f"{engine} {of['seconds']:.0f} s and {of['inertia']:,.6g}"
        for engine, of in result["final"].items()
    )
    header = ["library", "its time", "its inertia", "ours on Dask to this inertia", "ours on Ray"]
    return (
        f"## Distributed fits against other libraries: {result['data'].split(' x ')[0]}\n\n"
        f"{result['max_iter']} iterations of Lloyd's algorithm from random rows, with two "
        f"single-threaded workers; ours use two threads (`n_threads=2`) in tasks that all shards wait "
        f"for. {context(result)}\n{table(header, rows)}\n"
        f"Our fits end at: {finals}.\n"
    )


def _peer_row(name: str, of: Json) -> list[str]:
    """Return the figures of a library, and when our fits reach its inertia."""
    if "failure" in of:
        return [name, of["failure"], "", "", ""]
    ours = [_seconds_or_never(of["our_seconds"][engine]) for engine in ("Dask", "Ray")]
    return [f"{name} {of['version']}", f"{of['seconds']:.0f} s", f"{of['inertia']:,.6g}", *ours]


def _seconds_or_never(seconds: float | None) -> str:
    return "not reached" if seconds is None else f"{seconds:.1f} s"


def memory_section(result: Json) -> str:
    """Return the memory and the traffic of a large fit."""
    sizes = result["sizes"]
    rows = [[name, f"{peak:,.0f} MB"] for name, peak in result["peak_megabytes"].items()]
    low, high = result["calculated_bytes_per_round"]
    return (
        f"## Memory and traffic of a distributed fit\n\n{sizes['n']:,} x {sizes['d']} rows in float16 "
        f"({sizes['n_shards']} shards), k = {sizes['k']:,}, on Dask with two workers that may use "
        f"{result['memory_limit']} each: {result['seconds']:.0f} s, {result['rounds']} rounds. "
        f"{context(result)}\n{table(['process', 'peak memory'], rows)}\n"
        f"The workers sent each other {result['bytes_sent_per_round'] / 1e6:.1f} MB per round. By "
        f"calculation, a round sends {low / 1e6:.1f} to {high / 1e6:.1f} MB: centres to the other "
        f"worker, and sums of shards on different workers. {traffic_of_steps(result)}"
    )


def traffic_of_steps(result: Json) -> str:
    """Return what the calculation leaves out, and what each kind of step sends."""
    n, d, n_shards = (result["sizes"][name] for name in ("n", "d", "n_shards"))
    rows = [
        [kind, own["steps"], f"{own['bytes'] / own['steps'] / 1e6:.1f} MB"]
        for kind, own in result["bytes_sent_by_kind"].items()
    ]
    block = f"{2 * n * d / n_shards / 1e6:.0f} MB"
    return (
        f"{_counted(result)} The labels of a shard travel with its sums, and are part of the "
        "calculation. It leaves out the lists of candidates and other steps. A repair counts as one "
        "round, but it sends the sums of both halves of all clusters, then the sums of all clusters, "
        "and includes further sweeps. If Dask runs a task on another worker, the block of rows travels, "
        f"too: {block} each.\n\n{table(['step', 'number', 'sent per step'], rows)}"
    )


def _counted(result: Json) -> str:
    """Say what the counter of the traffic has counted."""
    if result.get("counts_all_results"):
        return "The workers count the sizes of all results that they send."
    return (
        "In this run, the counter of Dask left out centres and sums, because it did not know their "
        "sizes: the traffic was higher, and the table has mainly labels and blocks of rows."
    )


def simulation_section(result: Json) -> str:
    """Return the simulated fits of large data sets."""
    scenarios, bounds = result["scenarios"], tuple(result["assumptions"])
    rows = [
        [
            name,
            _range([of[bound]["minutes"] for bound in bounds], "{:.0f}"),
            " or ".join(dict.fromkeys(of[bound]["bottleneck"] for bound in bounds)),
            _range([of[bound]["bytes_per_round"] / 1e9 for bound in bounds], "{:,.0f}", " GB"),
            _range([of[bound]["memory_per_machine_gigabytes"] for bound in bounds], "{:.0f}", " GB"),
            of["published"],
        ]
        for name, of in scenarios.items()
    ]
    header = ["fit", "minutes", "bottleneck", "sent per round", "memory per machine", "compare with"]
    parts = {
        f"{name}: {bound}": of[bound]["parts"] for name, of in scenarios.items() for bound in bounds
    }
    names = next(iter(parts.values()))
    seconds = [[name, *(f"{one[name]:.1f}" for one in parts.values())] for name in names]
    return (
        "## Simulation of large distributed fits\n\nThese fits did not run. The times follow from the "
        "measured times of the tasks of one shard, and from a model of the network (10 Gbit/s) and of "
        f"storage (1 GB/s per machine). {context(result)}\n{_assumptions(result)}\n\n"
        f"{table(header, rows)}\n"
        f"Seconds of each part:\n\n{table(['', *parts], seconds)}"
    )


def _assumptions(result: Json) -> str:
    """Describe the assumptions of the simulation."""
    low, high = (result["assumptions"][bound] for bound in ("low", "high"))
    return (
        f"Both ends of a range have {result['rounds']} rounds before repairs. No worker is lost, no "
        "block of rows travels, and copies between processes of one machine take no time.\n\n"
        f"- *Low* is the least that is possible: {low['repairs']} repairs, each followed by "
        f"{_rounds(low)}; processes of a machine share one copy of the centres, as in Ray's object "
        "store, and sums of a machine are added before they travel; tasks for which all shards wait use "
        "all processors of a machine.\n"
        f'- *High* has {high["repairs"]} repairs, the limit of quality "balanced", each followed by '
        f"{_rounds(high)}; each process receives its own copy of the centres, as with single-threaded "
        "workers of Dask; sums travel with labels along the tree of the numbers of shards; tasks for "
        "which all shards wait use one processor; the scheduler needs a millisecond per task; labels "
        "also of the best partition pass through the driver."
    )


def _rounds(assumed: Json) -> str:
    return "one round" if assumed["settling"] == 1 else f"{assumed['settling']} rounds"


def _range(values: list[float], pattern: str, unit: str = "") -> str:
    """Return a range of numbers, or one number if both ends look the same."""
    shown = [pattern.format(value) for value in values]
    return " to ".join(dict.fromkeys(shown)) + unit


def conformance_section(result: Json) -> str:
    """Return the number of fits with equal labels, and of processes that were killed."""
    rows = [[f"fits with equal labels: {name}", n] for name, n in result["equal_fits_by_engine"].items()]
    rows += [[f"SIGKILLs: {name}", n] for name, n in result["sigkills_by_target"].items()]
    versions = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
    failed = "" if result["passed"] else " Not all tests of this run passed."
    return (
        f"## Equal labels on every engine\n\n`{result['command']}` compares the labels of "
        f"{result['configurations']} configurations with those of one process, and kills workers, nodes "
        f"and drivers during fits: {result['equal_fits']} fits with equal labels, and "
        f"{result['sigkills']} SIGKILLs.{failed} {versions}.\n\n{table(['', 'number'], rows)}"
    )


SECTIONS = {
    "distributed_fits": fits_section,
    "distributed_peers": peers_section,
    "distributed_peers_of_a_million": peers_section,
    "distributed_memory": memory_section,
    "cluster_simulation": simulation_section,
    CONFORMANCE: conformance_section,
}
