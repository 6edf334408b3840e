"""Warnings for deprecated public names and parameters.

A deprecated name works for two minor releases, with a FutureWarning that names its replacement. Every
deprecation is listed in `DEPRECATIONS`, so that the tests can report those due for removal.
"""

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# Minor releases in which a deprecated name still works, including the one that deprecates it.
RELEASES_WITH_WARNING = 2


@dataclass(frozen=True)
class Deprecation:
    """A public name or parameter that will be removed.

    Parameters
    ----------
    old : str
        The deprecated name, as users know it: "metrics.i1", or a parameter such as "scan(ks=)".
    new : str
        The replacement, in the same form.
    since : str
        The release that deprecates it, such as "0.8".
    """

    old: str
    new: str
    since: str

    @property
    def removal(self) -> str:
        """The release that removes the old name."""
        major, minor = _minor_release(self.since)
        return f"{major}.{minor + RELEASES_WITH_WARNING}"

    def is_due(self, version: str) -> bool:
        """Return True if the old name must not exist in this version."""
        return _minor_release(version) >= _minor_release(self.removal)

    def warn(self, stacklevel: int = 2) -> None:
        """Issue the warning; `stacklevel=2` points it to the caller of the deprecated function."""
        warnings.warn(
            f"{self.old} is deprecated since version {self.since} "
            f"and will be removed in {self.removal}. Use {self.new} instead.",
            FutureWarning,
            stacklevel=stacklevel + 1,
        )


DESCRIPTION_BY_OUTPUT = Deprecation(
    "boostkmeans docs -o FILE for the description", "--description FILE", since="0.13"
)
"""-o names the model, as in the other commands."""

DEPRECATIONS: tuple[Deprecation, ...] = (DESCRIPTION_BY_OUTPUT,)
"""All deprecations of the current release."""


def deprecated_name(deprecation: Deprecation, replacement: Callable[P, R]) -> Callable[P, R]:
    """Return a function that warns and then calls its replacement.

    Use it to keep an old name: `old = deprecated_name(Deprecation("old", "new", since="0.8"), new)`.
    """

    @functools.wraps(replacement)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        deprecation.warn()
        return replacement(*args, **kwargs)

    return call


def renamed_parameter(
    deprecation: Deprecation, old: str, new: str
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that accepts the keyword argument `old` in place of `new`, with a warning.

    It is meant for functions and methods. The constructor of an estimator must keep its old parameter in
    the signature, because scikit-learn reads the parameters from there.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if old in kwargs:
                if new in kwargs:
                    raise TypeError(f"{function.__name__}() got both {new!r} and its old name {old!r}.")
                deprecation.warn()
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return decorate


def _minor_release(version: str) -> tuple[int, int]:
    """Return the major and minor number of a version such as "0.8.1"."""
    major, minor = version.split(".")[:2]
    return int(major), int(minor)
