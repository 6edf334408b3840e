"""The page `docs/paper.md`: each claim of the paper, compared with the measured results.

`python paper/claims.py` writes it from the existing result files. A verdict rests on the result at the
paper's size as soon as this has all figures that the claim needs, and else on the small size. Claims
without a result are "not measured".
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from experiment import HERE, PAGES, Experiment, Json, load_size, size_name, table

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import all_experiments
import claims_algorithm
import claims_direct
import claims_documents
import claims_images
import claims_quality
import claims_scalability
import claims_search
import claims_trees
import claims_variants
import pair_refinement
import photos
import table3_entropy
import tree_oracle
from claim import VERDICTS, Claim, Judge, is_finished
from computation import hours_text
from deviations import DIFFERENCES, ERRORS, REFERENCES
from experiment_sizes import size_table
from greedy_starts import greedy_note
from run_load import load_text
from table3_entropy import N_PAPER_SETS as N_SETS

PAGE = HERE.parent / "docs" / "paper.md"

EXPERIMENTS = {
    "iterations": "Iterations in the plane (Fig. 1)",
    "lloyd_condition": "Lloyd's condition (Fig. 2)",
    "objectives": "Objective functions",
    "distortion": "Distortion of direct k-way methods (Fig. 3 a-c)",
    "fast_moves": "Best and first moves (Fig. 3 b, several seeds)",
    "significance": "128 runs (Fig. 3 d)",
    "bisecting": "Bisecting methods (Table 2)",
    "pair_refinement": "Refinement of pairs (an explanation for Table 2)",
    "sections": "Number of sections of a split",
    "split_priority": "Priority of clusters",
    "top_k0": "Candidates (top-k0)",
    "search": "Nearest neighbour search (Fig. 4)",
    "documents": "Documents (Table 3)",
    "scalability": "Scalability (Fig. 5 and 6)",
    "photos": "Real photographs (Fig. 6)",
    "tree_oracle": "The exact Algorithm 2 and a reference implementation",
}
"""Titles of the experiments, in the order of the paper."""
NO_CLAIM: dict[str, Callable[[Json], str]] = {
    "pair_refinement": pair_refinement.conclusion,
    "photos": photos.conclusion,
    "tree_oracle": tree_oracle.findings,
}
"""Experiments without claims of their own, and the functions that return their conclusions."""
NO_SIZE = {"iterations", "lloyd_condition", "objectives", "sections", "split_priority"}
"""Experiments about illustrations and general statements, for which the paper gives no size."""
TIMED = {"distortion", "bisecting", "sections", "top_k0", "scalability"}
"""Experiments with claims about times."""
MODULES: dict[str, Experiment] = {
    one.NAME: one for one in (*all_experiments.EXPERIMENTS, *all_experiments.RELATED)
}

Results = Mapping[str, Sequence[Json]]
"""Results of each experiment, that at the paper's size first."""


def ordered_claims() -> list[Judge]:
    """Return all judges in the order of their experiments."""
    modules = (claims_algorithm, claims_direct, claims_variants, claims_quality, claims_trees,
               claims_search, claims_documents, claims_scalability, claims_images)  # fmt: skip
    judges = [judge for module in modules for judge in module.CLAIMS]
    return sorted(judges, key=lambda judge: list(EXPERIMENTS).index(judge.experiment))


CLAIMS: list[Judge] = ordered_claims()


def judge_all(results: Results) -> list[Claim]:
    """Return all claims with their findings."""
    return [judge(results.get(judge.experiment, ())) for judge in CLAIMS]


def size_of(claim: Claim) -> str:
    """Return the size that a verdict rests on: "paper", "none", "small" or "unknown"."""
    if not claim.size:
        return "unknown"
    if claim.experiment in NO_SIZE:
        return "none"
    is_largest = claim.size == "full" and not hasattr(MODULES[claim.experiment], "LARGER_SIZE")
    return "paper" if is_largest else "small"


def overview(claims: list[Claim]) -> str:
    """Return the number of claims by verdict, and a table of all claims."""
    counts = Counter(claim.finding.verdict for claim in claims)
    summary = ", ".join(f"{verdict} {counts[verdict]}" for verdict in VERDICTS if counts[verdict])
    names = {"paper": "the paper's", "none": "none given", "small": "small", "unknown": "-"}
    lines = [
        [number, claim.title, claim.finding.verdict, names[size_of(claim)]]
        for number, claim in enumerate(claims, start=1)
    ]
    return f"**{len(claims)} claims: {summary}.**\n\n{coverage(claims)}\n" + table(
        ["", "claim", "verdict", "size"], lines
    )


def coverage(claims: list[Claim]) -> str:
    """Return sentences about the number of claims that rest on each size."""
    numbers: dict[str, list[int]] = {"paper": [], "none": [], "small": [], "unknown": []}
    for number, claim in enumerate(claims, start=1):
        numbers[size_of(claim)].append(number)
    texts = {
        "paper": "rest on results at the paper's own size",
        "none": "concern illustrations or general statements, for which the paper gives no size",
        "small": "rest on results below the paper's size, as the table above shows",
        "unknown": "are not measured yet",
    }
    lines = [
        f"- {len(found)} {texts[size]} ({ranges(found)})." for size, found in numbers.items() if found
    ]
    return "\n".join(lines) + "\n"


def ranges(numbers: list[int]) -> str:
    """Return increasing numbers as text, with ranges such as "3-7"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts)


def stand_ins(results: Results) -> str:
    """Return a list of the data sets, and of what replaces those that are not available."""
    measured = " ".join(document_text(result) for result in results.get("documents", ()))
    missing = table3_entropy.UNAVAILABLE_SETS
    return STAND_INS.format(
        n_used=N_SETS - len(missing), n_sets=N_SETS, unavailable=" and ".join(missing),
        documents=measured or "None is measured yet.", sizes=size_table(),
        hours=hours_text(one for some in results.values() for one in some),
    )  # fmt: skip


def document_text(result: Json) -> str:
    """Return a sentence about the sets and numbers of clusters of Table 3 at one size."""
    sets = table3_entropy.by_set(result["runs"])
    clusters = ", ".join(str(k) for k in sorted({k for one in sets for k in ks_of(one["run"])}))
    size = "the paper's size" if result["size"] == "full" else "the small size"
    unfinished = " Some runs are still missing." if result.get("complete") is False else ""
    return (
        f"At {size}, the paper's methods are measured on {len(sets)} sets"
        f"{f', with k = {clusters}' if clusters else ''}.{unfinished}"
    )


def details(claims: list[Claim], results: Results, pages: Path) -> str:
    """Return the paragraphs of all claims, grouped by experiment."""
    parts: list[str] = []
    for name, title in EXPERIMENTS.items():
        some = results.get(name, ())
        notes = f"{conclusion(name, some)} {greedy_note(some)}".rstrip()
        parts.append(f"## {title}\n\n{source(name, some, pages)}{notes}\n")
        parts += [
            paragraph(number, claim)
            for number, claim in enumerate(claims, start=1)
            if claim.experiment == name
        ]
    return "\n".join(parts)


def conclusion(name: str, results: Sequence[Json]) -> str:
    """Return the conclusion of an experiment without a claim, or an empty string.

    It rests on the first complete result, or on the first one if none is complete.
    """
    measured = [result for result in results if any(map(is_finished, result["runs"]))]
    measured.sort(key=lambda result: result.get("complete") is False)
    return f" {NO_CLAIM[name](measured[0])}" if name in NO_CLAIM and measured else ""


def source(name: str, results: Sequence[Json], pages: Path) -> str:
    """Return sentences about the page, the sizes and the data of an experiment."""
    measured = [result for result in results if result["runs"]]
    if not measured:
        return "Not measured yet."
    title = EXPERIMENTS[name]
    page = f"[{title}](paper/{name}.md)" if (pages / f"{name}.md").exists() else title
    return f"Results: {page}. " + " ".join(size_text(name, result) for result in measured)


def size_text(name: str, result: Json) -> str:
    """Return sentences about the data, the numbers of clusters and the load of a result."""
    size = size_name(MODULES[name], result)
    names = sorted({run["data"] for run in result["runs"] if "data" in run})
    ks = sorted({k for run in result["runs"] for k in ks_of(run["run"])})
    some = [
        f" {'; '.join(names)}" if names else "",
        f" k = {', '.join(f'{k:,}' for k in ks)}" if ks else "",
    ]
    incomplete = " Some runs are still missing." if result.get("complete") is False else ""
    described = ",".join(one for one in some if one) or " measured"
    load = f" {text}" if name in TIMED and (text := load_text(result["runs"])) else ""
    return f"At {size}:{described}.{incomplete}{load}"


def ks_of(run: Json) -> list[int]:
    """Return the numbers of clusters of a run."""
    return list(run.get("ks", [run["k"]] if "k" in run else []))


def paragraph(number: int, claim: Claim) -> str:
    """Return the heading and the list about one claim."""
    finding = claim.finding
    end = "" if finding.measured.endswith(".") else "."
    where = f" at {size_name(MODULES[claim.experiment], {'size': claim.size})}" if claim.size else ""
    lines = [
        f"### {number}. {claim.title}: {finding.verdict}\n",
        f"- Paper: {claim.paper}",
        f"- Measured{where}: {finding.measured}{end}" if finding.measured else "",
        f"- Rule: {claim.rule}",
        f"- {finding.explanation}" if finding.explanation else "",
    ]
    return "\n".join(line for line in lines if line) + "\n"


def page_text(results: Results, pages: Path = PAGES) -> str:
    """Return the page as Markdown."""
    claims = judge_all(results)
    parts = [
        HEAD.format(stand_ins=stand_ins(results), overview=overview(claims)),
        details(claims, results, pages),
        ERRORS_HEAD + table(["paper", "here"], ERRORS),
        DIFFERENCES_HEAD + table(["paper", "here"], DIFFERENCES),
        "\n" + REFERENCES.rstrip() + "\n\n" + CONTENTS,
    ]
    return "".join(parts).rstrip() + "\n"


def stored_results(names: Iterable[str] = tuple(EXPERIMENTS)) -> dict[str, list[Json]]:
    """Return the stored results of each experiment, that at the paper's size first."""
    return {
        name: [
            one for full in (True, False)
            if (one := load_size(name, full, plan=MODULES[name].plan)) is not None
        ]
        for name in names
    }  # fmt: skip


def write_page() -> None:
    """Write the page from the existing result files."""
    PAGE.write_text(page_text(stored_results()))


HEAD = """# The paper's claims

This page compares each measurable claim of *Boost k-means* (Zhao, Deng, Ngo) with results measured with
this library. It is written by `paper/claims.py` from the files in `paper/results`, which `make paper`
and `make paper-full` measure. The claims are paraphrased. Each verdict follows a stated rule; "agrees in
part" means that the result misses the rule, but points in the same direction. Data and machine differ
from those of the paper, so ratios are compared, not absolute figures. A verdict rests on the paper's
own size as soon as all figures that it needs are measured there.

Names of the methods:

- BKM is boost k-means, the paper's direct k-way clustering (Algorithm 1). It starts from a random
  partition (non), from random rows as centres (rnd), or from k-means++ as published, with one candidate
  per centre (kpp). "+Fast" moves a row to the first better cluster instead of the best one.
- BsBKM is bisecting boost k-means (Algorithm 2), with the same starts. The "sampled tree" is the default
  of `BisectingBoostKMeans`, which splits large sets by a sample. BsKM and BsKM++ are bisecting k-means
  from random rows and from k-means++. RBK is repeated bisecting by the cosine.
- k-means, k-means++, BsKM and BsKM++ use the same core as boost k-means. scikit-learn's versions have
  rows of their own.
- LVQ is online k-means. Mini-Batch is mini-batch k-means with a tenth of the rows in each batch, or in
  all batches together ("10 % in total").

{stand_ins}
{overview}
"""

STAND_INS = """Data:

- PhotoSIFT replaces SIFT1M, which is not available. It has a million SIFT descriptors of photographs.
  The paper's absolute distortions (40,450 for k-means) and recalls need SIFT1M itself and are not among
  the claims.
- Synthetic vectors replace Flickr10M, with the spectrum and the cluster structure of VLAD vectors of
  photographs. The claims about distortions of images depend on them.
- {n_used} of the paper's {n_sets} document sets are used for Table 3; {unavailable} are not available.
  {documents}

Numbers of rows and clusters, at the paper's size and at the small size (a verdict names its size):

{sizes}
{hours}
"""

ERRORS_HEAD = """
## Errors and omissions of the paper

An implementation has to correct or decide the following points.

"""

DIFFERENCES_HEAD = """
## Differences of this library

The following points of the library's methods differ from the paper's text on purpose.

"""

# The pages of the experiments fold under this page in the sidebar of the site.
CONTENTS = """```{toctree}
:hidden:
:glob:

paper/*
```
"""


if __name__ == "__main__":
    write_page()
