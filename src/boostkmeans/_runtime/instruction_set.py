"""Choice of the instruction set that the compiled kernel uses."""

import os

from boostkmeans import _core

# Environment variable that overrides the choice.
VARIABLE = "BOOSTKMEANS_ISA"


def instruction_sets() -> list[str]:
    """Return the names of the instruction sets that this machine supports, slowest first."""
    return _core.instruction_sets()


def instruction_set() -> str:
    """Return the name of the instruction set in use.

    By default this is the last of `instruction_sets()`. The environment variable `BOOSTKMEANS_ISA`
    selects another one, for tests and comparisons.
    """
    available = instruction_sets()
    wanted = os.environ.get(VARIABLE) or available[-1]
    if wanted not in available:
        raise ValueError(
            f"{VARIABLE}={wanted!r} is not an instruction set of this machine. "
            f"Available: {', '.join(available)}."
        )
    return wanted
