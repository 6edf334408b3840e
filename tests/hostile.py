"""Attack the library in many ways, and count the attempts and the failures.

    python tests/hostile.py [--share 0.1] [--only NAME...] [--store]

Every kind of attack runs in a process of its own. A crash or a hang is a failure of the current attempt.
`--store` writes benchmarks/results/hostile.json and the table in docs/reliability.md. With `--only`, it
keeps the stored counts of the other attacks.
"""

import argparse
import os
import select
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from attacks import awkward_rows, files, fits, resources, signals

# Seconds after which an attempt is a hang.
MAX_SECONDS = 300.0
# Number of failures per kind that are printed.
MAX_SHOWN = 5


@dataclass(frozen=True)
class Attack:
    """One kind of attack."""

    name: str
    attempt: Callable[[int], str]
    count: int | Callable[[], int]
    """Number of attempts."""
    before: str = ""
    """Failures and attempts of version 0.7.0, if they were counted."""
    obstacle: Callable[[], str] = str
    """Return why the attack cannot be made on this machine, or ""."""


ATTACKS = (
    Attack("one flipped bit in a model", files.flip_model, lambda: files.n_bits(files.models()),
           "2,075 of 26,230"),
    Attack("one flipped bit in a checkpoint", files.flip_checkpoint,
           lambda: files.n_bits(files.checkpoints()), "some of 6,400"),
    Attack("a checkpoint of slightly different data", files.resume_with_other_data, 300, "a third"),
    Attack("certified labels that differ from `predict`", fits.labels_and_predict, 600,
           "97 of 300 with cosine distances"),
    Attack("certificates, verified in exact arithmetic", fits.certificate, 900, "0 of 900"),
    Attack("rows that change during a fit", fits.changing, 252, "crashes"),
    Attack("rows that change while a tree grows", fits.changing_tree, 144),
    Attack("awkward data sets", awkward_rows.fit, 3000, "none were found in 2,000"),
    Attack("invalid rows and weights", fits.invalid_input, fits.n_invalid_inputs, "most kinds"),
    Attack("CSR and dense rows, any settings", fits.csr_and_dense, 200),
    Attack("damaged CSV and HDF5 files, streamed", files.fit_damaged_stream, 600),
    Attack("signals to the command line", signals.interrupt_command, 150),
    Attack("SIGKILL during a save", signals.kill_save, 60, "0 of 153, with fits"),
    Attack("SIGKILL during fits with a checkpoint", signals.kill_fit, 10),
    Attack(f"16 threads on one estimator, {fits.GIL} the GIL", fits.many_threads, 40),
    Attack("decompression bombs", resources.open_bomb, 14, "5 GB of temporary files for one of 5 MB"),
    Attack("weights, classes and texts with long or blank lines", resources.read_hostile_column, 12),
    Attack("a disk that becomes full during a write", resources.write_to_full_disk, 90,
           "none were found", resources.no_full_disk),
    Attack("forks after and during fits", resources.fork, 60, "none were found"),
)  # fmt: skip


@dataclass
class Count:
    """Attempts and failures of one kind of attack."""

    attempts: int = 0
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0


def run(attack: Attack, share: float) -> Count:
    """Make a share of the attempts, evenly spread."""
    found, began = Count(), time.perf_counter()
    total = attack.count if isinstance(attack.count, int) else attack.count()
    numbers = list(range(0, total, max(1, round(1 / share))))
    while found.attempts < len(numbers):
        for failure in _in_child(attack, numbers[found.attempts :]):
            found.attempts += 1
            if failure:
                number = numbers[found.attempts - 1]
                found.failures.append(f"attempt {number}: {failure}")
    found.seconds = time.perf_counter() - began
    return found


def _in_child(attack: Attack, numbers: list[int]) -> Iterator[str]:
    """Make attempts in a fork. Yield each failure, or "". A crash ends the iteration after it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _attempt_all(attack, numbers, writing)
    os.close(writing)
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        for _ in numbers:
            line = _read_line(pipe)
            if line is None:
                break
            yield line
        else:
            os.waitpid(child, 0)
            return
    os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    yield "no answer" if code == -signal.SIGKILL else f"the process ended with {code}"


def _attempt_all(attack: Attack, numbers: list[int], pipe: int) -> None:
    """Write one line per attempt to a pipe, and end this process."""
    warnings.simplefilter("ignore")
    try:
        for number in numbers:
            try:
                failure = attack.attempt(number)
            except Exception as error:
                failure = f"{type(error).__name__}: {error}"
            os.write(pipe, failure.encode("unicode_escape")[:1000] + b"\n")
    finally:
        os._exit(0)


def _read_line(pipe: Any) -> str | None:
    """Return a line, or None at the end of the pipe or after a long time."""
    line = b""
    while not line.endswith(b"\n"):
        if not select.select([pipe], [], [], MAX_SECONDS)[0]:
            return None
        piece = pipe.read(1)
        if not piece:
            return None
        line += piece
    return line[:-1].decode("ascii")


def main() -> None:
    """Run all attacks, print a line for each, and exit with an error after a failure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="share of the attempts (default: 1)")
    parser.add_argument("--only", nargs="*", default=[], help="words in the names of attacks")
    parser.add_argument("--store", action="store_true", help="store the counts and the table")
    options = parser.parse_args()
    counts: dict[str, Count] = {}
    for attack in ATTACKS:
        if options.only and not any(word in attack.name for word in options.only):
            continue
        if reason := attack.obstacle():
            print(f"{attack.name}: skipped, because {reason}", flush=True)
            continue
        count = counts[attack.name] = run(attack, options.share)
        print(f"{attack.name}: {len(count.failures)} failures in {count.attempts:,} attempts, "
              f"{count.seconds:.0f} s", flush=True)  # fmt: skip
        for failure in count.failures[:MAX_SHOWN]:
            print("   ", failure)
    if options.store:
        import hostile_report

        hostile_report.store(
            [attack.name for attack in ATTACKS],
            [
                {"attack": attack.name, "attempts": counts[attack.name].attempts,
                 "failures": len(counts[attack.name].failures), "version 0.7.0": attack.before}
                for attack in ATTACKS if attack.name in counts
            ],
        )  # fmt: skip
    shutil.rmtree(files.folder())
    sys.exit(any(count.failures for count in counts.values()))


if __name__ == "__main__":
    main()
