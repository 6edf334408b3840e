"""Task: the environment in which every function of a sharded fit runs."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from boostkmeans._runtime.instruction_set import using_instruction_set

DISTRIBUTION = "boostkmeans"


class VersionMismatchError(RuntimeError):
    """A worker has another version of the library than the driver."""


@dataclass(frozen=True)
class TaskSettings:
    """What all workers must have in common, because results depend on it."""

    version: str
    isa: str
    """Instruction set."""

    @classmethod
    def of_driver(cls, isa: str) -> "TaskSettings":
        """Return the settings with the version of this process."""
        return cls(version(DISTRIBUTION), isa)


def run_task(settings: TaskSettings, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function on a worker with the version and the instruction set of the fit."""
    own = version(DISTRIBUTION)
    if own != settings.version:
        raise VersionMismatchError(
            f"This worker has boostkmeans {own}, but the driver has {settings.version}. Results could "
            "differ. Install the same version on all workers."
        )
    with using_instruction_set(settings.isa):
        return function(*args)
