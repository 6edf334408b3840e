"""Kill workers at random moments while a fit runs."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

# Seconds between two looks for a worker that can be killed.
PAUSE = 0.02


class Killer:
    """A thread that kills one worker per round, at a random moment of the round.

    Pass `after_round` as the callback of the fit.
    """

    def __init__(self, pids: Callable[[], list[int]], seed: int, max_kills: int = 10**6) -> None:
        """Kill processes among `pids()`, which is called again for each kill."""
        self.n_kills = 0
        self._pids = pids
        self._random = random.Random(seed)
        self._max_kills = max_kills
        self._stop = threading.Event()
        self._round = threading.Event()
        self._round_began = time.monotonic()
        self._seconds_of_round = 1.0
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def after_round(self, record: Any) -> None:
        """Announce the next round."""
        now = time.monotonic()
        # The shortest round: after a kill, a round takes much longer, because workers start again.
        self._seconds_of_round = min(self._seconds_of_round, now - self._round_began)
        self._round_began = now
        self._round.set()

    def _run(self) -> None:
        try:
            while not self._stop.is_set() and self.n_kills < self._max_kills:
                if not self._round.wait(PAUSE):
                    continue
                self._round.clear()
                self._stop.wait(self._random.uniform(0, self._seconds_of_round))
                self._kill_one()
        except BaseException as error:
            self._error = error

    def _kill_one(self) -> None:
        while not self._stop.is_set():
            pids = self._pids()
            if pids:
                try:
                    os.kill(self._random.choice(pids), signal.SIGKILL)
                except ProcessLookupError:
                    continue
                self.n_kills += 1
                return
            self._stop.wait(PAUSE)

    def __enter__(self) -> "Killer":
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._thread.join()
        if self._error is not None:
            raise self._error
