"""Writes `docs/paper.md`: the paper's claims one by one, beside what was measured.

`python paper/claims.py` reads the result files that are there; what is not is "not measured".
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from experiment import HERE, PAGES, Json, kept, table

# isort: split
# What is above settles threads, before NumPy is imported.
import claims_uses
import claims_vectors
from claim import VERDICTS, Claim, Judge

PAGE = HERE.parent / "docs" / "paper.md"

CLAIMS: list[Judge] = [*claims_vectors.CLAIMS, *claims_uses.CLAIMS]
# In the order of the paper.
EXPERIMENTS = {
    "iterations": "iterations in the plane (Fig. 1)",
    "lloyd_condition": "Lloyd's condition (Fig. 2)",
    "distortion": "distortion of direct k-way methods (Fig. 3 a-c)",
    "significance": "128 runs (Fig. 3 d)",
    "bisecting": "bisecting methods (Table 2)",
    "top_k0": "candidates (top-k0)",
    "search": "nearest neighbour search (Fig. 4)",
    "documents": "documents (Table 3)",
    "scalability": "scalability (Fig. 5 and 6)",
}


def judged(results: dict[str, Json | None]) -> list[Claim]:
    """All claims, by the results of the experiments."""
    return [judge(results.get(judge.experiment)) for judge in CLAIMS]  # type: ignore[attr-defined]


def overview(claims: list[Claim]) -> str:
    """How many of each verdict, and a line for each claim."""
    counts = Counter(claim.verdict for claim in claims)
    summary = ", ".join(f"{verdict} {counts[verdict]}" for verdict in VERDICTS if counts[verdict])
    lines = [[f"{number}", claim.what, claim.verdict] for number, claim in enumerate(claims, start=1)]
    return f"**{len(claims)} claims: {summary}.**\n\n{table(['', 'claim', 'verdict'], lines)}"


def details(claims: list[Claim], results: dict[str, Json | None], pages: Path) -> str:
    """Claim by claim, experiment by experiment."""
    parts: list[str] = []
    for name, title in EXPERIMENTS.items():
        parts.append(f"## {title[0].upper()}{title[1:]}\n\n{source(name, results.get(name), pages)}\n")
        parts += [
            paragraph(number, claim)
            for number, claim in enumerate(claims, start=1)
            if claim.experiment == name
        ]
    return "\n".join(parts)


def source(name: str, result: Json | None, pages: Path) -> str:
    """Where the figures are from."""
    if result is None:
        return "Not measured yet."
    size = "the paper's size" if result["size"] == "full" else "the small size"
    data = sorted({run["data"] for run in result["runs"] if "data" in run})
    of = f"; data: {', '.join(data)}" if data else ""
    page = f"[{name}](paper/{name}.md)" if (pages / f"{name}.md").exists() else name
    return f"Figures: {page}, at {size}{of}."


def paragraph(number: int, claim: Claim) -> str:
    """One claim."""
    lines = [
        f"### {number}. {claim.what}: {claim.verdict}\n",
        f"- Paper: {claim.paper}",
        f"- Here: {claim.ours}{'' if claim.ours.endswith('.') else '.'}" if claim.ours else "",
        f"- Rule: {claim.rule}",
        f"- {claim.why}" if claim.why else "",
    ]
    return "\n".join(line for line in lines if line) + "\n"


def text_of(results: dict[str, Json | None], pages: Path = PAGES) -> str:
    """The page."""
    claims = judged(results)
    return HEAD.format(overview=overview(claims)) + details(claims, results, pages) + errors()


def errors() -> str:
    """What had to be put right."""
    return ERRORS_HEAD + table(["paper", "here"], ERRORS)


def write(names: Iterable[str] = tuple(EXPERIMENTS)) -> None:
    """From the result files that are there."""
    PAGE.write_text(text_of({name: kept(name) for name in names}).rstrip() + "\n")


HEAD = """# The paper's claims

Written by `paper/claims.py` from the files in `paper/results`. Each claim of *Boost k-means* (Zhao,
Deng, Ngo) that can be measured is held against what was measured here, in our words, by a rule that
is stated. "In part" is what misses the rule but goes the same way. Data and machine are not those
of the paper, so figures are compared by ratios. The experiments and their pages: see below; `make
paper` measures them anew.

{overview}
"""

ERRORS = [
    (
        "The formula for the objective after a move lacks the two old terms: it is a value, not "
        "a gain, and its sign decides nothing",
        "the gain, with the two terms that are taken away",
    ),
    (
        "A row that is alone in its cluster (n_u = 1) divides by zero",
        "such a row stays, which is exact: it can gain nothing",
    ),
    ("The entropy has no minus sign", "with it, and 0 log 0 = 0: from 0 (pure) to 1"),
    ('Table 1 calls bisecting k-means with k-means++ "BsBKM++"', "BsKM++, as in the other tables"),
    ('Table 2 prints "4,3323.9"', "read as 43,323.9"),
    (
        "Table 3 has the best of ten runs by entropy, the measure of the test itself",
        "shown as the paper's way, beside the run with the best objective, and the mean of all",
    ),
    (
        "LVQ's rate begins at 0.01 and falls by 0.0004 in an iteration: it is negative after 25",
        "it ends at 0",
    ),
    (
        '"+Fast" takes the first better cluster; in which order they are tried is not said',
        "from a random one on for each row; in the order of their numbers, the first ones would "
        "be flooded",
    ),
    (
        "When it has converged is not said",
        "when a sweep moves nothing (certified), or gains less than a tolerance; `stop_reason_` tells",
    ),
    ("The factor of top-k0 comes without k0 and k", "measured for many"),
    ("Refinement ends 7 % above k-means", "run until hardly anything moves: see above"),
    (
        'Mini-Batch sees "10 %" of the data: in an iteration, or in all?',
        "in an iteration; and where time matters, as long as the others",
    ),
    ("k-means++ is said to be of Ostrovsky et al.", "it is by Arthur and Vassilvitskii (2007)"),
]
"""What the paper has, and what is done here."""

ERRORS_HEAD = """
## Where the paper errs or is silent

What an implementation has to put right or to decide by itself, and what was done here.

"""


if __name__ == "__main__":
    write()
