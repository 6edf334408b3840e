"""Conversion of the options of `fit` to an estimator."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from boostkmeans import BisectingBoostKMeans, BoostKMeans
from boostkmeans.cli.commands.fit.options import FitSettings, Method, Sample
from boostkmeans.cli.errors import option_name
from boostkmeans.cli.options import RunOptions, value_of
from boostkmeans.io import open_vectors

Estimator = BoostKMeans | BisectingBoostKMeans

# Options that have no effect on a method, although its estimator may accept the parameter.
UNSUPPORTED: dict[Method, tuple[str, ...]] = {
    Method.K_WAY: ("split", "sample", "max_passes"),
    Method.BISECTING: (
        "quality", "n_candidates", "max_iter", "tol", "max_time", "dimensions"
    ),
    Method.REFINED: ("dimensions",),
}  # fmt: skip


@dataclass(frozen=True)
class FitRequest:
    """The options that determine the estimator."""

    n_clusters: int | None
    """Number of clusters; None if `leaf_size` of the settings determines it."""
    settings: FitSettings
    run: RunOptions
    checkpoint: str | None
    engine: Any = None
    """Engine of a distributed fit; None for a fit in this process."""

    def prepare(self) -> Callable[..., Estimator]:
        """Check the options, and return a function that builds the estimator.

        The function accepts the parameters that are not options: `verbose` and `callback`.
        """
        method = self.settings.method
        parameters = self._given()
        self._check_clusters()
        for name in parameters:
            if name in self._unsupported():
                other = Method.BISECTING if method is Method.K_WAY else Method.K_WAY
                raise ValueError(
                    f"{option_name(name)} has no effect on the method {method.value!r}. Leave it out, "
                    f"or use --method {other.value}."
                )
        for name in ("n_candidates", "dimensions"):
            if name in parameters:
                parameters[name] = parse_number_or_all(name, parameters[name])
        if "sample" in parameters:
            parameters["sample"] = None if parameters["sample"] == Sample.ALL else "auto"
        if "max_passes" in parameters:
            parameters["max_passes"] = parse_number_or_all(
                "max_passes", parameters["max_passes"], unlimited="unlimited"
            )
        parameters |= {
            "random_state": self.run.seed,
            "n_threads": self.run.threads,
            "checkpoint": self.checkpoint,
        }
        if self.engine is not None:
            parameters["engine"] = self.engine
        if method is Method.K_WAY:
            parameters |= _initial_centres(parameters.get("init"))
            return partial(self._classes()[0], self.n_clusters, **parameters)
        _check_bisecting_init(parameters.get("init"), method)
        refine = method is Method.REFINED
        return partial(self._classes()[1], self.n_clusters, refine=refine, **parameters)

    def _unsupported(self) -> tuple[str, ...]:
        """Return the parameters that have no effect."""
        names = UNSUPPORTED[self.settings.method]
        if self.engine is None:
            return names
        # On a cluster, a tree is that of a sample, whose size depends on the quality.
        return tuple(name for name in names if name != "quality")

    def _check_clusters(self) -> None:
        """Raise an error unless exactly one option determines the number of clusters."""
        if self.n_clusters is None and self.settings.leaf_size is None:
            raise ValueError("The number of clusters is missing. Use -k K, or --leaf-size ROWS.")
        if self.n_clusters is not None and self.settings.leaf_size is not None:
            raise ValueError(
                "-k and --leaf-size both set the number of clusters. Leave out one of them."
            )

    def _classes(self) -> tuple[type[BoostKMeans], type[BisectingBoostKMeans]]:
        """Return the estimators of one machine or of many, whose parameters are the same."""
        if self.engine is None:
            return BoostKMeans, BisectingBoostKMeans
        from boostkmeans import distributed

        return distributed.BoostKMeans, distributed.BisectingBoostKMeans

    @property
    def max_sweeps(self) -> int:
        """Largest possible number of sweeps of all runs."""
        default = BoostKMeans()
        max_iter = self.settings.max_iter or default.max_iter
        return max_iter * (self.settings.n_init or default.n_init)

    def _given(self) -> dict[str, Any]:
        """Return the parameters that the user gave."""
        values = {one.name: getattr(self.settings, one.name) for one in fields(self.settings)}
        del values["method"]
        values |= {name: value_of(values[name]) for name in ("quality", "metric", "split", "sample")}
        return {name: value for name, value in values.items() if value is not None}


def init_file(init: str | None) -> str | None:
    """Return the file of centres that --init names, or None if it names a method."""
    return None if init is None or init in BoostKMeans.INIT_METHODS else init


def parse_number_or_all(name: str, text: str, unlimited: str = "all") -> int | str | None:
    """Return the value of a parameter that is a number, "auto", or None, which `unlimited` stands for.

    >>> [parse_number_or_all("dimensions", text) for text in ("auto", "all", "20")]
    ['auto', None, 20]
    """
    if text == "auto":
        return text
    if text == unlimited:
        return None
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise ValueError(
        f"{option_name(name)} must be an integer of at least 1, auto or {unlimited}. Got {text!r}."
    )


def _initial_centres(init: str | None) -> dict[str, Any]:
    path = init_file(init)
    if path is None:
        return {}
    if not Path(path).exists():
        raise ValueError(
            f"--init must be one of {', '.join(BoostKMeans.INIT_METHODS)}, or a file of centres. Got "
            f"{path!r}, which does not exist."
        )
    with open_vectors(path) as centres:
        return {"init": centres[:]}


def _check_bisecting_init(init: str | None, method: Method) -> None:
    allowed = BisectingBoostKMeans.INIT_METHODS
    if init is not None and init not in allowed:
        raise ValueError(
            f"--init must be one of {', '.join(allowed)} for the method {method.value!r}. Got {init!r}."
        )
