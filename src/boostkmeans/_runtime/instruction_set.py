"""Which copy of the kernel runs: the best the machine has, unless the environment says otherwise."""

import os

from boostkmeans import _core

VARIABLE = "BOOSTKMEANS_ISA"


def instruction_sets() -> list[str]:
    """Names of the instruction sets that this machine can run, the plainest first."""
    return _core.instruction_sets()


def instruction_set() -> str:
    """Name of the instruction set in use: the last of `instruction_sets()`.

    The environment variable `BOOSTKMEANS_ISA` chooses another one, for tests and for comparison.
    """
    available = instruction_sets()
    wanted = os.environ.get(VARIABLE) or available[-1]
    if wanted not in available:
        raise ValueError(
            f"{VARIABLE}={wanted!r} is not an instruction set of this machine. "
            f"It has: {', '.join(available)}."
        )
    return wanted
