"""Reading of damaged files of vectors: systematic damage for the tests, random damage for `make fuzz`.

A damaged file can crash a native library, so files are read in a separate process. It writes the name of
each case to a file before it reads the case: after a crash, the case is known.

    python tests/fuzz.py --seconds 60 --seed 0
"""

import argparse
import faulthandler
import gzip
import json
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather
from safetensors.numpy import save_file
from scipy.io import mmwrite
from scipy.sparse import csr_array, issparse, save_npz
from sklearn.datasets import dump_svmlight_file

from boostkmeans import DataFormatError
from boostkmeans.io import WRITABLE, open_vectors, write_vectors

VALUES = np.array([[3.0, 4, 0], [4, 3, 0], [0, 0, 5], [0, 0, 2]], dtype=np.float32)
# Memory that reading a file of a few bytes may take.
MAX_MEMORY = 64 << 20
# Additional address space for the stacks of threads.
STACK_BYTES = 64 << 20
# Time limit of a case in seconds: a hang is a fault.
MAX_SECONDS = 20
# Number of bytes at the beginning of a file that are changed one by one.
HEAD_BYTES = 128
# Number of bytes at the end of a file that are changed one by one, if its format has metadata there.
TAIL_BYTES = 256
WITH_TAIL = ("npz", "parquet", "arrow", "feather", "hdf5")
# Formats whose last line can be truncated without an error, because the last line break is optional.
OPEN_ENDED = (".csv", ".tsv", ".svm")
# Files that the same code reads as another file of the list. Every third case is tested.
VARIANTS = ("a.feather", "columns.parquet", "fortran.npy", "stored.npz", "sparse.npz")
VARIANT_STEP = 3
# Numbers that replace the numbers in a header of text.
NUMBERS = (0, -1, 2**31, 2**63, 10**30)
# Binary integers that overwrite parts of a header.
FIELDS = [struct.pack("<i", n) for n in (0, -1, 2**31 - 1, -(2**31))]
FIELDS += [struct.pack("<Q", n) for n in (2**31, 2**32 - 1, 2**63 - 1, 2**63)]


def valid_files(folder: Path) -> dict[str, bytes]:
    """Write a small file of every format. Return the contents by name."""
    for kind in WRITABLE:
        write_vectors(folder / f"a.{kind}", VALUES)
    np.save(folder / "fortran.npy", np.asfortranarray(VALUES))
    np.savez(folder / "stored.npz", train=VALUES, test=VALUES[:1])
    np.savez_compressed(folder / "deflated.npz", VALUES)
    save_npz(folder / "sparse.npz", csr_array(VALUES), compressed=False)
    columns = pa.table({"a": VALUES[:, 0], "b": VALUES[:, 1]})
    pq.write_table(columns, folder / "columns.parquet", row_group_size=2, compression="snappy")
    lists = pa.table({"v": VALUES.tolist()})
    pq.write_table(lists, folder / "lists.parquet", compression="none")
    feather.write_feather(lists, folder / "a.feather", compression="lz4")
    with pa.ipc.new_file(folder / "file.arrow", columns.schema) as writer:
        writer.write_table(columns)
    with pa.ipc.new_stream(folder / "stream.arrow", lists.schema) as writer:
        writer.write_table(lists)
    with h5py.File(folder / "old.hdf5", "w") as file:
        file["train"] = VALUES
    with h5py.File(folder / "chunks.hdf5", "w", libver="latest") as file:
        file.create_dataset("train", data=VALUES, chunks=(2, 3), compression="gzip")
    np.savetxt(folder / "a.csv", VALUES, "%g", ",", header="x,y,z", comments="")
    np.savetxt(folder / "a.tsv", VALUES, "%g", "\t")
    lines = [json.dumps({"id": f"{i}", "v": row}) for i, row in enumerate(VALUES.tolist())]
    (folder / "a.jsonl").write_text("\n".join(lines) + "\n")
    save_file({"train": VALUES, "test": VALUES[:1]}, folder / "a.safetensors", {"by": "a test"})
    mmwrite(folder / "a.mtx", csr_array(VALUES))
    dump_svmlight_file(VALUES, [1, 1, 2, 2], str(folder / "a.svm"), zero_based=False)
    (folder / "a.mat").write_text("4 3 6\n1 3 2 4\n1 4 2 3\n3 5\n3 2\n")
    (folder / "a.npy.gz").write_bytes(gzip.compress((folder / "a.npy").read_bytes(), mtime=0))
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def damaged(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield files with one changed byte, truncated files, and files with forged numbers."""
    tail = max(HEAD_BYTES, len(content) - TAIL_BYTES) if name.endswith(WITH_TAIL) else len(content)
    step = VARIANT_STEP if name in VARIANTS else 1
    places = [*range(min(HEAD_BYTES, len(content))), *range(tail, len(content))][::step]
    for at in places:
        old = content[at]
        near = ((old + n) & 0xFF for n in (1, -1))
        others = {old ^ 1, old ^ 16} if name.endswith(".hdf5") else {0x7F, *near, old ^ 1, old ^ 16}
        for new in sorted({0, 0xFF, old ^ 128, *others} - {old}):
            yield f"byte {at} = {new}", content[:at] + bytes([new]) + content[at + 1 :]
    for length in range(0, len(content), step):
        yield f"length {length}", content[:length]
    for at in places[:: 8 if name.endswith(".hdf5") else 4]:
        for field in FIELDS:
            yield f"at {at}: {field.hex()}", content[:at] + field + content[at + len(field) :]
    for match in re.finditer(rb"(?<![\w.])\d+(?![\w.])", content[:HEAD_BYTES]):
        for number in NUMBERS:
            text = str(number).encode()
            yield (
                f"at {match.start()}: {number}",
                content[: match.start()] + text + content[match.end() :],
            )
            if name.endswith(".npy"):  # keep the length of the header by removing padding
                rest = content[match.end() : HEAD_BYTES].rstrip(b" \n")
                header = (content[: match.start()] + text + rest).ljust(HEAD_BYTES - 1) + b"\n"
                yield f"header at {match.start()}: {number}", header + content[HEAD_BYTES:]


def mutated(content: bytes, rng: random.Random) -> bytes:
    """Return the content with some random changes."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        at = rng.randrange(len(data) + 1)
        what = rng.randrange(6)
        if what == 0:
            data[at : at + 1] = bytes([rng.randrange(256)])
        elif what == 1:
            field = rng.choice(FIELDS)
            data[at : at + len(field)] = field
        elif what == 2:
            data[at : at + rng.randrange(1, 9)] = rng.randbytes(rng.randrange(1, 9))
        elif what == 3:
            del data[at : at + rng.randrange(1, 64)]
        elif what == 4:
            begin = rng.randrange(len(data) + 1)
            data[at:at] = data[begin : begin + rng.randrange(1, 64)]
        else:
            del data[at:]
    return bytes(data)


def outcome(path: Path, cut_from: Any = None) -> str | None:
    """Read a file. Return a description of a fault, "" if it was read, or None if it was rejected.

    A truncated file must be rejected, or give the first rows of the complete file, `cut_from`.
    """
    try:
        with open_vectors(path) as vectors:
            n_rows, n_columns = vectors.shape
            if not vectors.is_sparse and not 0 <= vectors.nbytes <= MAX_MEMORY:
                return f"a shape of {vectors.shape}"
            every, some = vectors.load(), vectors.read(0, min(n_rows, 3))
            if every.shape != (n_rows, n_columns) or some.shape != (min(n_rows, 3), n_columns):
                return f"{every.shape} or {some.shape} instead of {vectors.shape}"
            if cut_from is not None and not _begins(cut_from, every, path.name.endswith(OPEN_ENDED)):
                return f"{len(dense(every))} rows that are not the first rows of the complete file"
    except DataFormatError as error:
        return None if path.name in str(error) else f"an error that does not name the file: {error}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return ""


def dense(rows: Any) -> Any:
    """Return sparse or dense rows as a dense array."""
    return rows.toarray() if issparse(rows) else rows


def _begins(whole: Any, found: Any, last_may_differ: bool) -> bool:
    """Return True if the rows found are the first ones. Empty columns at the end may be missing."""
    whole, found = dense(whole), dense(found)
    n = len(found) - 1 if last_may_differ else len(found)
    if n < 1:
        return True
    d = found.shape[1]
    return (
        n <= len(whole)
        and d <= whole.shape[1]
        and bool(np.array_equal(found[:n], whole[:n, :d]) and not whole[:n, d:].any())
    )


class Case:
    """Reader of damaged files, which records the current case in a file."""

    def __init__(self, folder: Path) -> None:
        self.note = (folder / "case").open("wb", buffering=0)
        self.folder = folder / "now"
        self.folder.mkdir()

    def run(self, name: str, what: str, content: bytes, whole: Any = None) -> str | None:
        """Record the case, write the damaged file and read it."""
        os.pwrite(self.note.fileno(), f"{name}: {what}".ljust(200).encode(), 0)
        path = self.folder / name
        path.unlink(missing_ok=True)  # overwriting a file would flush it to the disk
        path.write_bytes(content)
        return outcome(path, whole if what.startswith("length") else None)


def work(folder: Path, seconds: float | None, seed: int, names: list[str]) -> dict[str, Any]:
    """Run all systematic cases, or random cases for some time. Return counts and faults."""
    (folder / "valid").mkdir()
    files = valid_files(folder / "valid")
    files = {name: content for name, content in files.items() if not names or name in names}
    case = Case(folder)
    counts, accepted, faults, whole = dict.fromkeys(files, 0), dict.fromkeys(files, 0), [], {}
    for name, content in files.items():  # imports and caches are not limited
        fault = case.run(name, "valid", content)
        if fault != "":
            faults.append(f"{name}: {fault}")
        whole[name] = np.array(dense(open_vectors(folder / "valid" / name).load()))
    _limit_memory()
    for name, what, content in _systematic(files) if seconds is None else _random(files, seconds, seed):
        faulthandler.dump_traceback_later(MAX_SECONDS, exit=True)
        counts[name] += 1
        fault = case.run(name, what, content, whole[name])
        accepted[name] += fault == ""
        if fault:
            faults.append(f"{name}, {what}: {fault}"[:300])
            (folder / f"fault-{len(faults)}-{name}").write_bytes(content)
    faulthandler.cancel_dump_traceback_later()
    return {"counts": counts, "accepted": accepted, "faults": faults}


def _systematic(files: dict[str, bytes]) -> Iterator[tuple[str, str, bytes]]:
    for name, content in files.items():
        for what, changed in damaged(name, content):
            yield name, what, changed


def _random(files: dict[str, bytes], seconds: float, seed: int) -> Iterator[tuple[str, str, bytes]]:
    end, i = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        rng = random.Random(f"{seed}/{i}")
        name = rng.choice(list(files))
        yield name, f"seed {seed}, number {i}", mutated(files[name], rng)
        i += 1


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MAX_MEMORY + STACK_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def run(folder: Path, *options: str) -> dict[str, Any]:
    """Run `work` in a separate process. If the process dies, the current case is a fault."""
    # One arena: otherwise glibc reserves 64 MB of address space for each thread.
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    result = subprocess.run(
        [sys.executable, __file__, "--folder", str(folder), *options],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    if result.returncode == 0:
        found: dict[str, Any] = json.loads(result.stdout)
        return found
    note = folder / "case"
    case = note.read_text().strip() if note.exists() else "before the first case"
    fault = f"{case}: the process died with {result.returncode}\n{result.stderr[-3000:]}"
    return {"counts": {}, "accepted": {}, "faults": [fault]}


def main() -> None:
    """Read random files for some time. Exit with an error if there was a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--seconds", type=float, help="time for random files (default: run the systematic cases)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[], help="names of files, such as a.npy")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.folder is not None:
        warnings.simplefilter("ignore")
        json.dump(work(options.folder, options.seconds, options.seed, options.only), sys.stdout)
        return
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    timing = [] if options.seconds is None else ["--seconds", str(options.seconds)]
    names = ["--only", *options.only] if options.only else []
    found = run(folder, *timing, "--seed", str(options.seed), *names)
    for name, n in found["counts"].items():
        print(f"{name}: {n} files, {found['accepted'][name]} accepted")
    print(*(found["faults"][:50] or ["no faults"]), sep="\n")
    if found["faults"]:
        sys.exit(f"see {folder}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
