"""From the options of `fit` to an estimator."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from boostkmeans import BisectingBoostKMeans, BoostKMeans
from boostkmeans._steps.seeding import INIT_NAMES
from boostkmeans._steps.tree_builder import STARTS
from boostkmeans.cli.errors import option_of
from boostkmeans.io import open_vectors


class Method(StrEnum):
    """As in `cluster_documents`."""

    K_WAY = "k-way"
    BISECTING = "bisecting"
    REFINED = "refined"


# Options that a method does not have. Its estimator may have the parameter, and make nothing of it.
NOT_FOR = {
    Method.K_WAY: (),
    Method.BISECTING: (
        "min_size", "max_size", "quality", "n_candidates", "max_iter", "tol", "max_time"
    ),
    Method.REFINED: ("min_size", "max_size"),
}  # fmt: skip


@dataclass(frozen=True)
class Wanted:
    """A method, and the parameters that the user gave; the others are None."""

    method: Method
    n_clusters: int
    given: dict[str, Any]

    def estimator(self) -> BoostKMeans | BisectingBoostKMeans:
        """Not fitted."""
        given = {name: value for name, value in self.given.items() if value is not None}
        for name in given:
            if name in NOT_FOR[self.method]:
                raise ValueError(
                    f"{option_of(name)} is not for the method {self.method.value!r}. Leave it out, or "
                    "use --method k-way."
                )
        if given.get("n_candidates") == "all":
            given["n_candidates"] = None
        if self.method is Method.K_WAY:
            return BoostKMeans(self.n_clusters, **_with_init(given))
        if given.get("init", STARTS[0]) not in STARTS:
            raise ValueError(
                f"--init must be one of {', '.join(STARTS)} for the method {self.method.value!r}. "
                f"Got {given['init']!r}."
            )
        return BisectingBoostKMeans(self.n_clusters, refine=self.method is Method.REFINED, **given)


def file_of(init: str | None) -> str | None:
    """The file of centres that --init names, if it is no name of a start."""
    return None if init is None or init in INIT_NAMES else init


def _with_init(given: dict[str, Any]) -> dict[str, Any]:
    path = file_of(given.get("init"))
    if path is None:
        return given
    if not Path(path).exists():
        raise ValueError(
            f"--init must be one of {', '.join(INIT_NAMES)}, or a file of centres. Got {path!r}, and "
            "there is no such file."
        )
    with open_vectors(path) as centres:
        return {**given, "init": centres[:]}


def candidates(given: str | None) -> int | str | None:
    """What --candidates says: None if nothing, "auto", "all", or a number."""
    if given is None or given in ("auto", "all"):
        return given
    if given.isdecimal() and int(given) > 0:
        return int(given)
    raise ValueError(f"--candidates must be a number from 1 on, auto or all. Got {given!r}.")
