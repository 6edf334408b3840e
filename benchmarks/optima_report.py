"""The sections of docs/benchmarks.md about better optima, limits on sizes and choosing k."""

from environment import Json
from page import table, where


def suite_section(result: Json) -> str:
    """Defaults on all data sets."""
    lines, lower, fast, lower_than_ten = [], 0, 0, 0
    for row in result["rows"]:
        own = row["inertia"]
        above, above_best = row["its_inertia"] / own - 1, row["its_best_of_10"] / own - 1
        ratio = row["its_seconds"] / row["seconds"]
        lower += above >= -1e-6
        lower_than_ten += above_best >= -1e-6
        fast += ratio >= 1
        lines.append(
            [
                row["data"],
                f"{row['n']:,} x {row['d']}",
                f"{own:.6g}",
                f"{1e3 * row['seconds']:.1f} ms",
                f"{100 * above:+.2f} %",
                f"{1e3 * row['its_seconds']:.1f} ms",
                f"{ratio:.2f}",
                f"{100 * above_best:+.2f} %",
            ]
        )
    header = [
        "data", "rows", "ours: inertia", "time", "`n_init=1`: inertia", "time", "time by ours",
        "`n_init=10`: inertia",
    ]  # fmt: skip
    n = len(lines)
    return (
        "## Defaults on many data sets\n\n"
        f"`BoostKMeans(k)` against scikit-learn's `KMeans(k)`: means of {result['seeds']} seeds, of "
        f"{result['peer_runs']} for scikit-learn, whose inertia is at convergence (`tol=0`) "
        f"and whose time "
        f"is that of its default tolerance. {where(result)}\n{table(header, lines)}\n"
        f"Ours is at or below one run of scikit-learn on **{lower} of {n}**, and at or "
        f"below the best of "
        f"ten of its runs on **{lower_than_ten} of {n}** ({lower_than_ten / n:.0%}). It takes less time "
        f"than one run on {fast} of {n}. The others are small, or have few features: there "
        f"a sweep costs "
        "little, and annealing and repair are what takes the time.\n"
    )


def planted_section(result: Json) -> str:
    """How often blobs are found."""
    rows = [
        [f"{r['k']} blobs, {r['n']:,} x {r['d']}", *[f"{v} of {r['of']}" for v in r["found"].values()]]
        for r in result["results"]
    ]
    return (
        f"## Planted blobs\n\n{where(result)}\n"
        f"{table(['', 'fast', 'balanced', 'best'], rows)}\nFound: the inertia is at or "
        f"below that of the "
        "planted partition.\n"
    )


def small_sets_section(result: Json) -> str:
    """The clustering basic benchmark."""
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
        "## The lowest known inertia\n\n"
        "P. Franti's clustering basic benchmark: how often the lowest inertia that any of these reached "
        "is reached within 0.01 %, the mean above it, and the time of a run. 100 seeds for "
        "ours, 20 for the "
        f"others (5 for birch). {where(result)}\n{table(['', 'lowest', *names], lines)}"
    )


def best_section(result: Json) -> str:
    """Quality against Lloyd."""
    results = result["results"]
    best = results["best"]["distortion"]
    rows = [
        [name, f"{r['distortion']:,.1f}", f"{100 * (best / r['distortion'] - 1):+.2f} %",
         f"{r['seconds']:.2f} s"]
        for name, r in results.items()
    ]  # fmt: skip
    return (
        f"## Quality\n\nk = {result['k']}, means of {result['seeds']} seeds. {where(result)}\n"
        f"{table(['', 'distortion', '`best` against it', 'time'], rows)}\n"
        "Single moves: `annealing=0, repair=False, tol=0`.\n"
    )


def million_section(result: Json) -> str:
    """Quality at large k."""
    rows = [
        [f'`quality="{q}"`', f"{r['seconds']:.1f} s", f"{r['distortion']:,.0f}"]
        for q, r in result["results"].items()
    ]
    shown = table(["", "time", "distortion"], rows)
    return f"## Quality, 1,000,000 rows into 10,000 clusters\n\n{where(result)}\n{shown}"


def study_section(result: Json) -> str:
    """The schedule of annealing."""
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
    temperatures = list(dict.fromkeys(t for t, _ in settings))
    lengths = list(dict.fromkeys(s for _, s in settings))
    means = []
    for t in temperatures:
        by_length = [sum(found[name, t, s, True] for name in names) / len(names) for s in lengths]
        means.append([f"{t}", *[f"{100 * value:+.2f}" for value in by_length]])
    return (
        "## Annealing\n\n"
        "Inertia in percent against no annealing, without and with repair, by the temperature that the "
        f"first sweep has and the number of sweeps over which it falls to 0. From a tree, means of "
        f"{result['seeds']} seeds, all clusters. {where(result)}\n"
        f"{table(['temperature', 'sweeps', *names], lines)}\nMeans over these, with repair:\n\n"
        f"{table(['temperature', *[f'{s} sweeps' for s in lengths]], means)}\n"
        "More sweeps always help; no temperature is the best everywhere. High ones suit "
        "few dimensions, few "
        "clusters and duplicates, low ones few rows a cluster and many dimensions; and the "
        "higher it is, "
        "the more rows move and the longer a sweep takes. The default is 0.12, from the middle: over 10 "
        'sweeps (20 for 65 to 511 clusters of long rows) for "balanced", 90 for "best".\n'
    )


def scan_section(result: Json) -> str:
    """Choosing k."""
    above = max(result["above"])
    return (
        f"## Choosing k\n\n{len(result['ks'])} numbers from "
        f"{result['ks'][0]} to "
        f"{result['ks'][-1]}. {where(result)}\n"
        f"`select.scan` takes {result['seconds']:.1f} s "
        f"({result['seconds_without_gap']:.1f} s without the "
        f"gap), a fit for each number {result['seconds_of_fits']:.1f} s, scikit-learn's "
        f"`KMeans(n_init=1)` "
        f"for each {result['seconds_of_scikit_learn']:.1f} s. Its inertias are up to "
        f"{above:.1%} above those "
        f"of the fits. It suggests {result['suggestion']}: {result['reason']}.\n"
    )


def limits_section(result: Json) -> str:
    """Limits on sizes."""
    lines = []
    for row in result["rows"]:
        own, peer = row["ours"], row.get("peer")
        limits = " to ".join(
            f"{row[name]:,}" if name in row else "any" for name in ("size_min", "size_max")
        )
        lines.append(
            [
                f"{row['data']}, k={row['k']}",
                limits,
                f"{1e3 * own['seconds']:,.0f} ms",
                f"{peer['seconds']:.2f} s" if peer else "not run",
                f"**{peer['seconds'] / own['seconds']:.0f} x**" if peer else "",
                f"{100 * (own['inertia'] / peer['inertia'] - 1):+.2f} %" if peer else "",
                f"{own['smallest']:,} to {own['largest']:,}",
            ]
        )
    header = [
        "data", "limits", "ours", "k-means-constrained", "faster", "our inertia against it", "our sizes",
    ]  # fmt: skip
    return f"## Limits on sizes\n\nOne run each (`n_init=1`). {where(result)}\n{table(header, lines)}"


SECTIONS = {
    "suite_against_scikit_learn": suite_section,
    "best_against_lloyd": best_section,
    "million_at_its_best": million_section,
    "planted_blobs": planted_section,
    "small_sets": small_sets_section,
    "annealing_study": study_section,
    "size_limits": limits_section,
    "scan_against_fits": scan_section,
}
