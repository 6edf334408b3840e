"""Scheduled run: the part of a run that its schedule sees, on one machine or on many."""

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans._engine.history import START, SweepRecord
from boostkmeans._engine.plan import Plan
from boostkmeans._engine.stopping import Outcome
from boostkmeans._runtime.progress import logger, stage_prefix, sweep_share


class LastSweep(NamedTuple):
    """Kind and number of moves of the last sweep or repair, on which later decisions depend."""

    kind: str
    moves: int


@dataclass(kw_only=True)
class ScheduledRun(ABC):
    """The optimisation of a partition, as a schedule sees it: inertia, history and decisions."""

    plan: Plan
    inertia: float
    """Inertia of the partition, in the frame, with the weights of the core."""
    rng: np.random.RandomState
    began: float
    """Start time, as a value of `time.perf_counter()`."""
    history: list[SweepRecord] = field(default_factory=list)
    """Records for the user. Decisions do not depend on them, but on `last` and `n_sweeps`."""
    last: LastSweep | None = None
    n_sweeps: int = 0
    """Number of sweeps and repairs so far."""
    note: str = ""
    """Text for the `note` of the next record."""
    outcome: Outcome | None = None
    """How the run ended; None while it is in progress."""
    on_course: bool = True
    """False once the deadline has affected the run. Such a state is never checkpointed, so that a
    resumed run gives the result of an uninterrupted one."""
    drift: float = 0.0
    """Largest drift of the composites so far."""
    after_block: Callable[[], None] | None = None
    """Called within a sweep over streamed rows, to write a checkpoint."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of features."""

    @property
    @abstractmethod
    def n_clusters(self) -> int:
        """Number of clusters, including empty ones."""

    @property
    @abstractmethod
    def has_limits(self) -> bool:
        """True if there are limits on the sizes of clusters."""

    @property
    @abstractmethod
    def sees_all_dimensions(self) -> bool:
        """False if the run sees only some dimensions, which cannot certify a result."""

    @property
    @abstractmethod
    def converges_slowly(self) -> bool:
        """True if the rules for few clusters with many rows apply."""

    @property
    @abstractmethod
    def explained_share(self) -> float:
        """Share of the total inertia of all rows that the clusters explain."""

    @property
    @abstractmethod
    def centres(self) -> Floats:
        """Centres of the clusters, in the frame."""

    @property
    @abstractmethod
    def uses_candidates(self) -> bool:
        """True if rows are compared with candidates, False if they are compared with all clusters."""

    @abstractmethod
    def next_candidates(self) -> bool:
        """Choose other candidates after a sweep that gained little. Return False if none are left."""

    @abstractmethod
    def drop_candidates(self) -> None:
        """Compare rows with all clusters from now on."""

    @abstractmethod
    def keep_if_best(self) -> None:
        """Take a snapshot if the partition is the best so far."""

    @abstractmethod
    def return_to_best(self) -> bool:
        """Restore the snapshot if it is better than the partition. Return True if it was restored."""

    @abstractmethod
    def release_coincident(self) -> bool:
        """Use clusters with the same centre elsewhere. Return True if a row moved."""

    @abstractmethod
    def extrapolate(self, centres: Floats) -> bool:
        """Assign all rows to the nearest of some centres. Return False if the inertia does not fall."""

    @abstractmethod
    def confirms_certificate(self) -> bool:
        """Return True if the last sweep proves a local optimum."""

    @abstractmethod
    def finish(self, outcome: Outcome) -> None:
        """End the run after its last sweep."""

    @abstractmethod
    def interrupt(self) -> None:
        """End the run at once after Ctrl-C."""

    @abstractmethod
    def _inertia_to_report(self) -> float:
        """Return the inertia in user units."""

    def record_start(self) -> None:
        """Record the inertia of a start that took long."""
        self.record(0, 0, START)

    def record(
        self,
        moves: int,
        evaluations: int,
        kind: str,
        *,
        temperature: float = 0.0,
        swaps: int = 0,
        note: str | None = None,
        seconds: float | None = None,
    ) -> None:
        """Append a record to the history, and log it. `seconds` is the time since the start, or now."""
        inertia = self._inertia_to_report()
        if note is None:
            note, self.note = self.note, ""
        record = SweepRecord(
            seconds=time.perf_counter() - self.began if seconds is None else seconds,
            moves=moves,
            # The inertia of the best partition so far. A recomputed sum may also be higher by rounding.
            inertia=min(inertia, self.history[-1].inertia) if self.history else inertia,
            evaluations=evaluations,
            kind=kind,
            temperature=temperature,
            swaps=swaps,
            note=note,
            current_inertia=inertia,
        )
        self.history.append(record)
        is_sweep = kind not in ("tree", START)
        if is_sweep:
            self.n_sweeps += 1
            self.last = LastSweep(kind, moves)
        if logger.isEnabledFor(logging.INFO):
            self._log(record)

    def _log(self, record: SweepRecord) -> None:
        """Log a record. Annealing raises the inertia, so both the best and the current one are shown."""
        is_sweep = record.kind not in ("tree", START)
        phase = f" ({record.phase})" if is_sweep and record.phase != "sweep" else ""
        notes = f", temperature {record.temperature:.3f}" if record.temperature else ""
        notes += f", {record.swaps} swaps" if record.swaps else ""
        logger.info(
            "%s%s%s, %.3f s: best inertia %.8g, current %.8g, %d rows moved%s",
            stage_prefix(),
            f"sweep {self.n_sweeps}" if is_sweep else record.kind,
            phase,
            record.seconds,
            record.inertia,
            record.current_inertia,
            record.moves,
            notes,
            extra=sweep_share(self.n_sweeps) if is_sweep else None,
        )
