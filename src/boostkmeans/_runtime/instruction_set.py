"""Choice of the instruction set that the compiled kernel uses."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from boostkmeans import _core

# Environment variable that overrides the choice.
VARIABLE = "BOOSTKMEANS_ISA"

_chosen: ContextVar[str | None] = ContextVar("boostkmeans_instruction_set", default=None)


def instruction_sets() -> list[str]:
    """Return the names of the instruction sets that this machine supports, slowest first."""
    return _core.instruction_sets()


def instruction_set() -> str:
    """Return the name of the instruction set in use.

    By default this is the last of `instruction_sets()`. The environment variable `BOOSTKMEANS_ISA`
    selects another one, for tests and comparisons. `using_instruction_set` takes precedence.
    """
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    available = instruction_sets()
    wanted = os.environ.get(VARIABLE) or available[-1]
    if wanted not in available:
        raise ValueError(
            f"{VARIABLE}={wanted!r} is not an instruction set of this machine. "
            f"Available: {', '.join(available)}."
        )
    return wanted


@contextmanager
def using_instruction_set(name: str) -> Iterator[None]:
    """Use an instruction set in the current thread while the block runs.

    The machines of a cluster use the same one, because float32 results differ in their last bits.
    """
    available = instruction_sets()
    if name not in available:
        raise ValueError(
            f"This machine does not support the instruction set {name!r}, which the fit uses. "
            f"Available: {', '.join(available)}. If such machines take part, set "
            f"{VARIABLE}={available[-1]} in the environment of the driver, and fit again."
        )
    token = _chosen.set(name)
    try:
        yield
    finally:
        _chosen.reset(token)
