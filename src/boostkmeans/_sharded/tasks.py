"""Tasks: submission of functions to a backend, with the settings of the fit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from boostkmeans._sharded.backend import FAN_IN, Backend, Reference, reduce_in_order


@dataclass(frozen=True)
class Tasks:
    """A backend, and the settings that all tasks of a fit share."""

    backend: Backend
    isa: str
    """Instruction set that all workers support. Float32 results differ in their last bits."""
    n_threads: int | None = None
    """Threads of tasks that all others wait for, such as the fit of a sample; None for all processors
    of the worker."""

    def submit(self, function: Callable[..., Any], *args: Any, n_results: int = 1) -> Any:
        """Schedule a task on one thread. See `Backend.submit`."""
        return self.backend.submit(function, *args, n_results=n_results, isa=self.isa)

    def reduce(self, combine: Callable[..., Any], references: Sequence[Reference]) -> Reference:
        """Combine results in a fixed order. See `reduce_in_order`."""
        return reduce_in_order(self.backend, combine, references, self.isa)[0]

    def reduce_to_few(
        self, combine: Callable[..., Any], references: Sequence[Reference]
    ) -> list[Reference]:
        """Combine results in a fixed order until a single task can combine the rest."""
        return reduce_in_order(self.backend, combine, references, self.isa, FAN_IN)

    def keep(self, reference: Reference) -> Reference:
        """Return a reference that keeps no other results of the same task. See `Backend.keep`."""
        return self.backend.keep(reference)

    def get(self, *references: Reference) -> list[Any]:
        """Wait for results, and return them."""
        return self.backend.get(references)
