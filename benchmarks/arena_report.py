"""The page `docs/peers.md` and its plot, written from `results/peers.json`."""

import math

import small_fits
from arena import RESULT
from arena_plots import draw_problems
from arena_tables import (
    equal_time_cell,
    error_list,
    example,
    memory_tables,
    of_kind,
    ratio_cell,
    short_setting,
    tables_by_library,
)
from comparison import (
    DEFAULTS,
    OWN,
    best_ratio,
    finished_peers,
    finished_runs,
    is_first,
    median_figure,
    n_never,
    n_won,
    seconds_to_inertia,
    stopped_peers,
)
from cores import cores_table
from environment import Json
from machine_load import QUIET
from page import DOCS, IMAGES, machine, table, versions
from peers import CONTESTANTS
from problems import PROBLEMS
from reasons import REASONS
from result_files import read_result
from targets import targets_table

Problems = dict[str, Json]

GROWTH = {
    "n from 10,000 to 100,000": ("SIFT 10,000 x 128, k=256", "SIFT 100,000 x 128, k=256"),
    "n from 100,000 to 1,000,000": ("SIFT 100,000 x 128, k=256", "SIFT 1,000,000 x 128, k=256"),
    "k from 256 to 1,024": ("SIFT 100,000 x 128, k=256", "SIFT 100,000 x 128, k=1,024"),
    "k from 1,024 to 4,096": ("SIFT 100,000 x 128, k=1,024", "SIFT 100,000 x 128, k=4,096"),
}
"""Pairs of problems that differ in n or k alone."""


def write_report() -> None:
    """Write the page and its plot, and print the main tables."""
    result = read_result(RESULT)
    problems = known_problems(result)
    IMAGES.mkdir(parents=True, exist_ok=True)
    draw_problems(problems, IMAGES / "peers.svg")
    print(
        summary_table(problems), nearest_table(problems), cores_by_problem(problems),
        small_table(result), targets_table(result, problems), sep="\n",
    )  # fmt: skip
    (DOCS / "peers.md").write_text(page_text(result))


def known_problems(result: Json) -> Problems:
    """Return the measured problems, in the order of `PROBLEMS`."""
    found = result["problems"]
    return {one.name: found[one.name] for one in PROBLEMS if one.name in found}


def page_text(result: Json) -> str:
    """Return the page as Markdown."""
    problems = known_problems(result)
    return TEXT.format(
        machine=machine(result), versions=versions(result), example=example(problems),
        summary=summary_table(problems), nearest=nearest_table(problems), data=data_table(problems),
        reasons=reasons(problems), growth=growth_table(problems), errors=error_list(problems),
        separately=measured_separately(result, problems), targets=targets_table(result, problems),
        cores=cores_by_problem(problems), small=small_table(result),
        ratios=tables_by_library(problems, ratio_cell),
        equal_time=tables_by_library(problems, equal_time_cell), memory=memory_tables(problems),
    )  # fmt: skip


def summary_table(problems: Problems) -> str:
    """Return how often boostkmeans is first, by pairs of problem and peer, and by problems."""
    kinds = [list(of_kind(problems, kind).values()) for kind in ("dense", "sparse")]
    n_pairs = [sum(len(finished_peers(problem)) for problem in some) for some in kinds]

    def won(own: list[str]) -> list[str]:
        counts = [n_won(some, own) for some in kinds]
        return [f"{n} ({100 * n / max(1, of):.0f} %)" for n, of in zip(counts, n_pairs, strict=True)]

    rows = [
        ["comparisons", *map(str, n_pairs)],
        *([f"won by {short_setting(one)}", *won([one])] for one in OWN),
        ["**won by any of these settings**", *(f"**{cell}**" for cell in won(OWN))],
        ["never by any of these settings", *(str(n_never(some, OWN)) for some in kinds)],
        ["never by the defaults", *(str(n_never(some, [DEFAULTS])) for some in kinds)],
        ["problems on which boostkmeans wins all comparisons",
         *(f"{sum(is_first(one, OWN) for one in some)} of {len(some)}" for some in kinds)],
        ["peers stopped by the time limit",
         *(str(sum(len(stopped_peers(one)) for one in some)) for some in kinds)],
    ]  # fmt: skip
    return table(["", "dense rows", "sparse rows"], rows)


def nearest_table(problems: Problems) -> str:
    """Return the peer with the lowest ratio on each problem."""
    rows = []
    for name, problem in problems.items():
        peer = min(finished_peers(problem), key=lambda p: best_ratio(problem, p), default=None)
        if peer is None:
            rows.append([name, "no peer within the limit", "", "", "", ""])
            continue
        target = median_figure(problem, peer, "inertia")
        gap = 100 * (median_figure(problem, DEFAULTS, "inertia") / target - 1)
        rows.append([
            name, peer, f"{median_figure(problem, peer, 'seconds'):.3g} s",
            fastest_cell(problem, target), ratio_cell(problem, peer), f"{gap:+.2f} %",
        ])  # fmt: skip
    header = ["problem", "nearest peer", "its time", "boostkmeans", "ratio", "final inertia"]
    return table(header, rows)


def data_table(problems: Problems) -> str:
    """Return the data of each problem."""
    return table(["problem", "data"], [[name, problem["data"]] for name, problem in problems.items()])


def fastest_cell(problem: Json, target: float) -> str:
    """Return the shortest time of boostkmeans to an inertia, and the setting."""
    own = min(OWN, key=lambda one: seconds_to_inertia(problem, one, target))
    seconds = seconds_to_inertia(problem, own, target)
    return "never" if math.isinf(seconds) else f"{seconds:.3g} s ({short_setting(own)})"


def growth_table(problems: Problems) -> str:
    """Return the ratio of the times of whole fits for larger n or k."""
    rows = []
    for name, contestant in CONTESTANTS.items():
        if "dense" not in contestant.kinds:
            continue
        cells = [growth_cell(problems, name, small, large) for small, large in GROWTH.values()]
        rows.append([name, *cells])
    return table(["", *GROWTH], rows)


def growth_cell(problems: Problems, name: str, small: str, large: str) -> str:
    """Return the ratio of the times of two problems, or "not known"."""
    if small not in problems or large not in problems:
        return "not known"
    ratio = median_figure(problems[large], name, "seconds") / median_figure(
        problems[small], name, "seconds"
    )
    return "not known" if math.isnan(ratio) else f"{ratio:.3g} x"


def reasons(problems: Problems) -> str:
    """Return a list of the problems on which a peer is first, with the reason."""
    lines = []
    for name, problem in problems.items():
        ahead = [peer for peer in finished_peers(problem) if best_ratio(problem, peer) <= 1]
        if ahead:
            by = ", ".join(f"{peer} ({ratio_cell(problem, peer).strip('*')})" for peer in ahead)
            lines.append(f"- **{name}**: behind {by}. {REASONS.get(name, '')}".rstrip())
    return "\n".join(lines) or "There is no such problem."


def cores_by_problem(problems: Problems) -> str:
    """Return the serial share and the speed-ups of the defaults on each problem."""
    return cores_table({name: finished_runs(problem, DEFAULTS) for name, problem in problems.items()})


def small_table(result: Json) -> str:
    """Return median times of fits that take milliseconds, and their inertia."""
    names, small = list(small_fits.CONTESTANTS), result.get("small", {})
    rows = []
    for problem in small_fits.PROBLEMS:
        runs = small.get(problem, {}).get("runs", {})
        rows.append([problem, *(small_cell(runs, name) for name in names)])
    return table(["", *names], rows)


def small_cell(runs: Json, name: str) -> str:
    """Return milliseconds and the inertia of a contestant."""
    run = runs.get(name, {"failure": "not measured"})
    other = runs.get(small_fits.SCIKIT_LEARN, {"failure": "not measured"})
    if "failure" in run or "failure" in other:
        return str(run.get("failure", "not measured"))
    gap = 100 * (run["mean_inertia"] / other["mean_inertia"] - 1)
    milliseconds = f"{1000 * run['seconds']:.3g} ms"
    return milliseconds if name == small_fits.SCIKIT_LEARN else f"{milliseconds}, {gap:+.2f} %"


def measured_separately(result: Json, problems: Problems) -> str:
    """Return a note about problems that were measured with other sources or libraries."""
    packages = result["environment"]["packages"]
    sources = {problem.get("source", "") for problem in problems.values()}
    others = [name for name, one in problems.items() if one.get("packages", packages) != packages]
    mixed = [one for one in problems.values() if len(commits(one)) > 1]
    notes = []
    if others or len(sources) > 1:
        notes.append(
            f"The problems were measured with {len(sources)} states of the sources, and {len(others)} "
            f"of {len(problems)} problems with other versions of the libraries than stated above. All "
            "contestants of a problem were measured with the same state and the same versions."
        )
    if mixed:
        notes.append(
            f"The measurement of {len(mixed)} of {len(problems)} problems was continued after a change "
            "of the repository, so their contestants are not all interleaved. The speed of this machine "
            "varies by up to a factor of two, so ratios near 1 are uncertain for these problems."
        )
    disturbed = disturbed_problems(result, problems)
    if disturbed:
        notes.append(
            "**Other processes ran during the measurement of some problems, which makes libraries with "
            f"actively waiting threads many times slower. These figures are not reliable:** {disturbed}."
        )
    return "\n\n".join(notes) + "\n" if notes else ""


def disturbed_problems(result: Json, problems: Problems) -> str:
    """Return the problems during which other processes ran, with the processors that they used."""
    small = {f"{name} (small)": one for name, one in result.get("small", {}).items()}
    loads = {name: one.get("others", 0.0) for name, one in {**problems, **small}.items()}
    return "; ".join(f"{name} ({load:.2f})" for name, load in loads.items() if load > QUIET)


def commits(problem: Json) -> set[str]:
    """Return the commits of the runs that finished."""
    return {
        run.get("commit", "")
        for runs in problem["runs"].values()
        for run in runs
        if "failure" not in run
    }


TEXT = """# Comparison with other libraries

This page compares the time and the inertia of boostkmeans with those of other libraries, the *peers*, on
real and synthetic data. It is written by `benchmarks/arena_report.py` from
`benchmarks/results/peers.json`; `make bench` measures and writes both.

## How to read this page

A fast fit with a high inertia cannot be compared with a slow fit with a low inertia. This page
therefore asks: when does boostkmeans reach the inertia at which a peer ends? *Time to equal inertia* is
a ratio: the time of the peer divided by that time of boostkmeans.

{example}

| cell | meaning |
| --- | --- |
| 4 x | boostkmeans reaches the inertia of the peer in a quarter of the time of the peer |
| **0.5 x** | the peer is first: boostkmeans needs twice the time of the peer |
| **never** | no setting of boostkmeans reaches the inertia of the peer |
| > 30 s | the peer exceeded the time limit of 30 s, so its inertia is unknown and it is not compared |
| > 30 s (k=256) | the same peer exceeded the limit with k=256, so this larger problem was not tried |
| no result yet | the peer ends before boostkmeans has a first result |
| error | the library raised an error, listed under [Errors](#errors) |

The name of a problem has the numbers of rows, features and clusters: *SIFT 100,000 x 128, k=256*.
[Problems](#problems) describes the data.

## How often boostkmeans is first

Each comparison is between boostkmeans and one setting of a peer on one problem, by time to equal
inertia:

{summary}
A peer that exceeded the time limit is not compared. "Any of these settings" counts a comparison as won
if at least one setting of boostkmeans reaches the inertia of the peer earlier than the peer.

## The nearest peer on each problem

The peer with the lowest ratio. The column boostkmeans is the shortest time to the inertia of the peer,
with the setting. The last column is the final inertia of the defaults of boostkmeans, relative to the
peer: negative values are lower.

{nearest}
## Where boostkmeans is not first

{reasons}

## Time to equal inertia

Each cell is the time of a peer divided by the shortest time of boostkmeans to the same inertia. Bold
cells are comparisons that the peer wins. There is one table per library.

{ratios}
## Inertia at equal time

Each cell is the inertia that the defaults of boostkmeans have reached when a peer ends, relative to the
inertia of the peer. Negative values mean that boostkmeans has the lower inertia.

{equal_time}
## Fits that take milliseconds

Median of 100 fits with different seeds, in ten rounds of ten fits in a row for each setting. boostkmeans
and scikit-learn share a process. 0.7.0 and scikit-learn share another process, which runs in turn with
the first. The percentages are the mean inertia relative to scikit-learn.

{small}
## Speed-up on more processors

`serial_share_` is the share of the single-threaded time of a fit in which only one thread can work.
Amdahl's law predicts the speed-up on 8, 32 and 128 processors from it. The simulation uses the measured
times of all tasks: a parallel section takes at least as long as its longest task. All figures are for
the defaults, relative to one thread. Problems that were measured with a version that does not report
these figures are left out.

{cores}
## Peak memory above the input

Megabytes. There is one table per library.

{memory}
## Growth

Factor by which the time of a whole fit grows if n or k alone increases (SIFT; n = 100,000 and k = 256
unless stated otherwise in the column):

{growth}
## Curves

Inertia in percent above the lowest inertia of all settings, against seconds. Lines show boostkmeans
during the fit, and points show the final results of peers.

![Inertia against time](images/peers.svg)

## Goals

The goals of release 0.9.0. The column 0.7.0 is measured in the same run. Figures in parentheses were
published with 0.7.0, and are not measured in this run. d' is the number of dimensions in which a fit
works: all of them, or the leading principal components.

{targets}
## How it is measured

Machine: {machine}. Versions: {versions}.

- All libraries get the same rows (float32 or CSR), the same number of threads, a separate process and a
  time limit. All of them return labels for all rows, and this is part of their time.
- All settings are measured in one run, interleaved: a round fits all settings of a problem one after
  another, with the same seed. There are three rounds, and the page shows medians. A setting that takes
  longer than 5 seconds runs once. The defaults of boostkmeans, boostkmeans 0.7.0 and superkmeans run
  three times if they take less than a minute.
- The inertia is computed from these labels in float64, with the means of the clusters as centres.
- The time after which boostkmeans is at or below an inertia is taken from `history_`, counted from the
  call of `fit`. The time after the last record, for final sums and labels, is added.
- boostkmeans 0.7.0 runs with its defaults, in an environment of its own with the same NumPy, SciPy and
  scikit-learn. It is not one of the settings of boostkmeans in the tables of comparisons.
- Peers run with the settings that their documentation recommends, or with their defaults. If these use a
  sample of the rows, a second entry uses all rows.
- A peer is not tried if it exceeded the limit on the same data with so few rows and clusters that it
  would need more than twice the limit.
- To add a peer, write one function in `benchmarks/peers.py`.

{separately}
### Problems

{data}
### Errors

Messages of libraries that could not cluster the rows of a problem:

{errors}
"""
