"""Task: the environment in which every function of a sharded fit runs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from boostkmeans._runtime.instruction_set import using_instruction_set


@dataclass(frozen=True)
class TaskSettings:
    """What all tasks of a fit have in common, because results depend on it."""

    isa: str
    """Instruction set that all workers support. Float32 results differ in their last bits."""


def run_task(settings: TaskSettings, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function with the settings of the fit."""
    with using_instruction_set(settings.isa):
        return function(*args)
