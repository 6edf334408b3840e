"""Sections of `docs/benchmarks.md` about inertia, annealing, size limits and the choice of k."""

from environment import Json
from page import context, table

# Relative differences below this are rounding.
ROUNDING = 1e-6


def suite_section(result: Json) -> str:
    """Return the comparison of the defaults with scikit-learn on many data sets."""
    lines = []
    n_lower = n_faster = n_lower_than_ten = 0
    for row in result["rows"]:
        own = row["inertia"]
        above, above_best = row["its_inertia"] / own - 1, row["its_best_of_10"] / own - 1
        ratio = row["its_seconds"] / row["seconds"]
        n_lower += above >= -ROUNDING
        n_lower_than_ten += above_best >= -ROUNDING
        n_faster += ratio >= 1
        lines.append([
            row["data"], f"{row['n']:,} x {row['d']}", f"{own:.6g}", f"{1e3 * row['seconds']:.1f} ms",
            f"{100 * above:+.2f} %", f"{1e3 * row['its_seconds']:.1f} ms", f"{ratio:.2f}",
            f"{100 * above_best:+.2f} %",
        ])  # fmt: skip
    header = [
        "data", "rows", "boostkmeans: inertia", "time", "`n_init=1`: relative inertia", "time",
        "time relative to boostkmeans", "`n_init=10`: relative inertia",
    ]  # fmt: skip
    n = len(lines)
    return (
        "## Defaults on many data sets\n\n`BoostKMeans(k)` against scikit-learn's `KMeans(k)`: means of "
        f"{result['seeds']} seeds, and of {result['peer_runs']} seeds for scikit-learn. scikit-learn's "
        "inertia is measured at convergence (`tol=0`), its time with the default tolerance. "
        f"{context(result)}\n"
        f"{table(header, lines)}\n"
        f"boostkmeans is at or below one run of scikit-learn on **{n_lower} of {n}** data sets, and at "
        f"or below the best of ten runs on **{n_lower_than_ten} of {n}** ({n_lower_than_ten / n:.0%}). "
        f"It is faster than one run on {n_faster} of {n}. The others are small or have few features: a "
        "sweep costs little there, and annealing and repair take most of the time.\n"
    )


def small_data_section(result: Json) -> str:
    """Return the times of fits in one call of the core."""
    names = list(result["rows"][0]["seconds"])
    lines = []
    for row in result["rows"]:
        times = [f"{1e3 * row['seconds'][name]:.2f} ms" for name in names]
        lowest = min(row["inertia"].values())
        above = [f"{100 * (row['inertia'][name] / lowest - 1):+.3f} %" for name in names]
        lines.append([f"{row['data']}, k={row['k']}", f"{row['n']:,} x {row['d']}", *times, *above])
    header = ["data", "rows", *names, *(f"inertia: {name}" for name in names)]
    return (
        "## Small data\n\nUp to n x k x d = 2,097,152 and k = 32, the core makes all steps of a fit in "
        "one call, on one thread. This holds for rows in memory that are not kept sparse, without size "
        "limits and without an explicit `n_candidates`. Median time and mean inertia (relative to the "
        f"lowest) of {result['seeds']} seeds, against the schedule of larger data, and against "
        f"scikit-learn's `KMeans(k, n_init=1)`. {context(result)}\n"
        f"{table(header, lines)}"
    )


def planted_section(result: Json) -> str:
    """Return how often the planted partition is found."""
    rows = [
        [f"{r['k']} blobs, {r['n']:,} x {r['d']}", *[f"{v} of {r['of']}" for v in r["found"].values()]]
        for r in result["results"]
    ]
    return (
        "## Planted blobs\n\nNumber of seeds for which a fit ends at or below the inertia of the "
        f"planted partition, by `quality`. {context(result)}\n"
        f"{table(['', 'fast', 'balanced', 'best'], rows)}"
    )


def small_sets_section(result: Json) -> str:
    """Return how often the lowest known inertia is reached."""
    names = list(result["rows"][0]["contestants"])
    lines = []
    for row in result["rows"]:
        cells = []
        for name in names:
            c = row["contestants"][name]
            share, above = c["reached"] / c["of"], c["mean"] / row["lowest"] - 1
            cells.append(f"{share:.0%}, {100 * above:+.2f} %, {1e3 * c['seconds']:.0f} ms")
        lines.append([f"{row['data']}, k={row['k']}", f"{row['lowest']:.6g}", *cells])
    return (
        "## The lowest known inertia\n\nP. Fränti's clustering basic benchmark. Each cell shows how "
        "often a method comes within 0.01 % of the lowest inertia that any method reached, its mean "
        'inertia relative to the lowest, and the time of a run. "best" and "balanced" are values '
        "of `quality`, with 100 seeds each. The other libraries ran with 20 seeds (5 for birch). "
        f"{context(result)}\n"
        f"{table(['', 'lowest', *names], lines)}"
    )


def quality_section(result: Json) -> str:
    """Return the comparison of the qualities with single moves and with Lloyd."""
    results = result["results"]
    best = results["best"]["distortion"]
    rows = [
        [name, f"{r['distortion']:,.1f}", f"{100 * (best / r['distortion'] - 1):+.2f} %",
         f"{r['seconds']:.2f} s"]
        for name, r in results.items()
    ]  # fmt: skip
    return (
        f"## Quality\n\nk = {result['k']}, means of {result['seeds']} seeds. {context(result)}\n"
        f"{table(['', 'distortion', '`best` relative to it', 'time'], rows)}\n"
        '"Single moves" are fits with `annealing=0, repair=False, tol=0`.\n'
    )


def million_section(result: Json) -> str:
    """Return the comparison of the qualities for 10,000 clusters."""
    rows = [
        [f'`quality="{q}"`', f"{r['seconds']:.1f} s", f"{r['distortion']:,.0f}"]
        for q, r in result["results"].items()
    ]
    qualities = table(["", "time", "distortion"], rows)
    return f"## Quality, 1,000,000 rows into 10,000 clusters\n\n{context(result)}\n{qualities}"


def annealing_section(result: Json) -> str:
    """Return the inertia by temperature and length of annealing."""
    names = list(dict.fromkeys(row["data"] for row in result["rows"]))
    settings = list(dict.fromkeys((row["temperature"], row["sweeps"]) for row in result["rows"]))
    found = {
        (r["data"], r["temperature"], r["sweeps"], r["repair"]): r["inertia"] for r in result["rows"]
    }
    lines = [
        [f"{t}", f"{s}", *[
            f"{100 * found[name, t, s, False]:+.2f}, {100 * found[name, t, s, True]:+.2f}"
            for name in names
        ]]
        for t, s in settings
    ]  # fmt: skip
    lengths = list(dict.fromkeys(s for _, s in settings))
    means = []
    for t in dict.fromkeys(t for t, _ in settings):
        by_length = [sum(found[name, t, s, True] for name in names) / len(names) for s in lengths]
        means.append([f"{t}", *[f"{100 * value:+.2f}" for value in by_length]])
    return ANNEALING_TEXT.format(
        seeds=result["seeds"], context=context(result),
        details=table(["temperature", "sweeps", *names], lines),
        means=table(["temperature", *[f"{s} sweeps" for s in lengths]], means),
    )  # fmt: skip


ANNEALING_TEXT = """## Annealing

Inertia in percent relative to no annealing, without repair and with repair, by the temperature of the
first sweep and the number of sweeps over which it falls to 0. All fits start from a tree and compare
each row with all clusters; means of {seeds} seeds. {context}
{details}
Means over all data sets, with repair:

{means}
More sweeps help on average, and no temperature is the best everywhere. High temperatures suit few
dimensions, few clusters and duplicates; low ones suit few rows per cluster and many dimensions. The
higher the temperature, the more rows move, and the longer a sweep takes. The default is 0.12, a
compromise: over 10 sweeps for "balanced" (20 for 65 to 511 clusters of long rows), and over 90 sweeps
for "best".
"""


def scan_section(result: Json) -> str:
    """Return the comparison of a scan with one fit per k."""
    above = max(result["above"])
    return (
        f"## Choosing k\n\n{len(result['ks'])} values of k from {result['ks'][0]} to "
        f"{result['ks'][-1]}. {context(result)}\n"
        f"`select.scan` takes {result['seconds']:.1f} s ({result['seconds_without_gap']:.1f} s without "
        f"the gap statistic), one fit per k takes {result['seconds_of_fits']:.1f} s, and scikit-learn's "
        f"`KMeans(n_init=1)` for each k takes {result['seconds_of_scikit_learn']:.1f} s. The inertias "
        f"of the scan are up to {above:.1%} above those of the fits. The scan suggests k = "
        f"{result['suggestion']}; its reason: {result['reason']}.\n"
    )


def limits_section(result: Json) -> str:
    """Return the comparison of size limits with k-means-constrained."""
    lines = []
    for row in result["rows"]:
        own, peer = row["boostkmeans"], row.get("peer")
        limits = " to ".join(
            f"{row[name]:,}" if name in row else "any" for name in ("size_min", "size_max")
        )
        lines.append([
            f"{row['data']}, k={row['k']}",
            limits,
            f"{1e3 * own['seconds']:,.0f} ms",
            f"{peer['seconds']:.2f} s" if peer else "not run",
            f"**{peer['seconds'] / own['seconds']:.0f} x**" if peer else "",
            f"{100 * (own['inertia'] / peer['inertia'] - 1):+.2f} %" if peer else "",
            f"{own['smallest']:,} to {own['largest']:,}",
        ])  # fmt: skip
    header = ["data", "limits", "boostkmeans", "k-means-constrained", "speed-up",
              "relative inertia of boostkmeans", "sizes of boostkmeans"]  # fmt: skip
    return f"## Limits on sizes\n\nOne run each (`n_init=1`). {context(result)}\n{table(header, lines)}"


SECTIONS = {
    "suite_against_scikit_learn": suite_section,
    "small_data": small_data_section,
    "best_against_lloyd": quality_section,
    "million_at_its_best": million_section,
    "planted_blobs": planted_section,
    "small_sets": small_sets_section,
    "annealing_study": annealing_section,
    "size_limits": limits_section,
    "scan_against_fits": scan_section,
}
