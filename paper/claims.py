"""The page `docs/paper.md`: each claim of the paper, compared with the measured results.

`python paper/claims.py` writes it from the existing result files. Claims without a result are "not
measured".
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from experiment import HERE, PAGES, Json, load_result, table

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import claims_algorithm
import claims_quality
import claims_scalability
import claims_uses
from claim import VERDICTS, Claim, Judge

PAGE = HERE.parent / "docs" / "paper.md"

CLAIMS: list[Judge] = [
    *claims_algorithm.CLAIMS,
    *claims_quality.CLAIMS,
    *claims_uses.CLAIMS,
    *claims_scalability.CLAIMS,
]
EXPERIMENTS = {
    "iterations": "Iterations in the plane (Fig. 1)",
    "lloyd_condition": "Lloyd's condition (Fig. 2)",
    "distortion": "Distortion of direct k-way methods (Fig. 3 a-c)",
    "significance": "128 runs (Fig. 3 d)",
    "bisecting": "Bisecting methods (Table 2)",
    "top_k0": "Candidates (top-k0)",
    "search": "Nearest neighbour search (Fig. 4)",
    "documents": "Documents (Table 3)",
    "scalability": "Scalability (Fig. 5 and 6)",
}
"""Titles of the experiments, in the order of the paper."""

Results = Mapping[str, Json | None]


def judge_all(results: Results) -> list[Claim]:
    """Return all claims with their findings."""
    return [judge(results.get(judge.experiment)) for judge in CLAIMS]


def overview(claims: list[Claim]) -> str:
    """Return the number of claims by verdict, and a table of all claims."""
    counts = Counter(claim.finding.verdict for claim in claims)
    summary = ", ".join(f"{verdict} {counts[verdict]}" for verdict in VERDICTS if counts[verdict])
    lines = [
        [number, claim.title, claim.finding.verdict] for number, claim in enumerate(claims, start=1)
    ]
    return f"**{len(claims)} claims: {summary}.**\n\n{table(['', 'claim', 'verdict'], lines)}"


def details(claims: list[Claim], results: Results, pages: Path) -> str:
    """Return the paragraphs of all claims, grouped by experiment."""
    parts: list[str] = []
    for name, title in EXPERIMENTS.items():
        parts.append(f"## {title}\n\n{source(name, results.get(name), pages)}\n")
        parts += [
            paragraph(number, claim)
            for number, claim in enumerate(claims, start=1)
            if claim.experiment == name
        ]
    return "\n".join(parts)


def source(name: str, result: Json | None, pages: Path) -> str:
    """Return a sentence about the page, the size and the data of an experiment."""
    if result is None:
        return "Not measured yet."
    size = "the paper's size" if result["size"] == "full" else "the small size"
    names = sorted({run["data"] for run in result["runs"] if "data" in run})
    data = f" Data: {'; '.join(names)}." if names else ""
    page = f"[{name}](paper/{name}.md)" if (pages / f"{name}.md").exists() else name
    return f"Results: {page}, measured at {size}.{data}"


def paragraph(number: int, claim: Claim) -> str:
    """Return the heading and the list about one claim."""
    finding = claim.finding
    end = "" if finding.measured.endswith(".") else "."
    lines = [
        f"### {number}. {claim.title}: {finding.verdict}\n",
        f"- Paper: {claim.paper}",
        f"- Measured: {finding.measured}{end}" if finding.measured else "",
        f"- Rule: {claim.rule}",
        f"- {finding.explanation}" if finding.explanation else "",
    ]
    return "\n".join(line for line in lines if line) + "\n"


def page_text(results: Results, pages: Path = PAGES) -> str:
    """Return the page as Markdown."""
    claims = judge_all(results)
    corrections = table(["paper", "here"], CORRECTIONS)
    text = HEAD.format(overview=overview(claims)) + details(claims, results, pages) + CORRECTIONS_HEAD
    return (text + corrections).rstrip() + "\n"


def write_page(names: Iterable[str] = tuple(EXPERIMENTS)) -> None:
    """Write the page from the existing result files."""
    PAGE.write_text(page_text({name: load_result(name) for name in names}))


HEAD = """# The paper's claims

This page compares each measurable claim of *Boost k-means* (Zhao, Deng, Ngo) with results measured with
this library. It is written by `paper/claims.py` from the files in `paper/results`, which `make paper`
measures. The claims are paraphrased. Each verdict follows a stated rule; "agrees in part" means that the
result misses the rule, but points in the same direction. Data and machine differ from those of the
paper, so ratios are compared, not absolute figures.

Names of the methods:

- BKM is boost k-means, the paper's direct k-way clustering. It starts from a random partition (non),
  from random rows as centres (rnd), or from k-means++ (kpp). "+Fast" moves a row to the first better
  cluster instead of the best one.
- BsBKM is bisecting boost k-means, with the same starts. BsKM and BsKM++ are bisecting k-means from
  random rows and from k-means++. RBK is repeated bisecting by the cosine.
- LVQ is online k-means, and Mini-Batch is mini-batch k-means.

{overview}
"""

CORRECTIONS = [
    (
        "The formula for the objective after a move lacks the two terms of the old state. It is a "
        "value, not a gain, so its sign does not show whether the move improves the objective.",
        "The gain includes the two terms that are subtracted.",
    ),
    (
        "The formula divides by zero for a row that is alone in its cluster (n_u = 1).",
        "Such a row stays. This is exact, because moving it gains nothing.",
    ),
    (
        "The entropy has no minus sign.",
        "`metrics.entropy` has a minus sign, with 0 log 0 = 0. It ranges from 0 (pure) to 1.",
    ),
    (
        'Table 1 calls bisecting k-means with k-means++ "BsBKM++".',
        "It is called BsKM++, as in the other tables.",
    ),
    ('Table 2 prints "4,3323.9".', "It is read as 43,323.9."),
    (
        "Table 3 shows the best of ten runs by entropy, which is also the evaluation measure.",
        "The page shows this, the run with the best objective, and the mean of all runs.",
    ),
    (
        "The learning rate of LVQ starts at 0.01 and falls by 0.0004 per iteration. It is negative "
        "after 25 iterations.",
        "LVQ ends when the rate is 0.",
    ),
    (
        '"+Fast" moves a row to the first better cluster. The order of the clusters is not given.',
        "The search starts at a random cluster for each row. If it always started at the first cluster, "
        "the first clusters would grow too large.",
    ),
    (
        "The convergence criterion is not given.",
        "A fit ends when a sweep moves nothing (certified), or gains less than a tolerance. "
        "`stop_reason_` names the criterion that applied.",
    ),
    ("The speed-up of top-k0 is given without k0 and k.", "It is measured for many k0."),
    (
        "Refinement ends 7 % above k-means.",
        "Refinement runs until hardly anything moves; see claim 21.",
    ),
    (
        'Mini-Batch sees "10 %" of the data. The paper does not say if this is per iteration or in '
        "total.",
        "It is assumed to be per iteration. Where time matters, Mini-Batch also gets as much time as "
        "the others.",
    ),
    (
        "k-means++ is attributed to Ostrovsky et al.",
        "It was published by Arthur and Vassilvitskii (2007).",
    ),
]
"""Errors and omissions of the paper, and the decision of this library."""

CORRECTIONS_HEAD = """
## Errors and omissions of the paper

An implementation has to correct or decide the following points.

"""


if __name__ == "__main__":
    write_page()
