"""Atomic writing of files."""

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from boostkmeans._storage.atomic_file import atomic_write, atomic_write_text, check_target
from conftest import run_python

CRASH = Path(__file__).parents[1] / "crash.py"


def test_file_is_written(tmp_path: Path) -> None:
    atomic_write_text(tmp_path / "file", "content\n")
    assert (tmp_path / "file").read_text() == "content\n"
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_error_leaves_no_file(tmp_path: Path) -> None:
    def write_and_fail() -> None:
        with atomic_write(tmp_path / "file") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_and_fail()
    assert list(tmp_path.iterdir()) == []


def test_existing_file_is_replaced_only_by_force(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("old")
    with pytest.raises(FileExistsError, match="not overwritten"):
        atomic_write_text(target, "new")
    assert target.read_text() == "old"
    atomic_write_text(target, "new", force=True)
    assert target.read_text() == "new"


def test_file_that_appears_while_writing_is_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "file"

    def write() -> None:
        with atomic_write(target) as file:
            file.write(b"new")
            target.write_text("precious")

    with pytest.raises(FileExistsError, match="not overwritten"):
        write()
    assert target.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [target]


def test_check_target_rejects_bad_paths(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    check_target(tmp_path / "new", force=False)
    check_target(tmp_path / "file", force=True)
    with pytest.raises(FileExistsError):
        check_target(tmp_path / "file", force=False)
    with pytest.raises(IsADirectoryError):
        check_target(tmp_path, force=True)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        check_target(tmp_path / "none" / "file", force=True)


def test_symbolic_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    atomic_write_text(tmp_path / "link", "new", force=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_prepared_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    """An attacker cannot redirect the temporary file by a link with a guessed name."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for name in (f".m.{os.getpid()}.part", f".m.{os.getpid()}-{threading.get_ident()}.part"):
        (tmp_path / name).symlink_to(victim)
    atomic_write_text(tmp_path / "m", "new")
    assert victim.read_text() == "precious"
    assert not (tmp_path / "m").is_symlink()


def test_permissions_are_kept(tmp_path: Path) -> None:
    atomic_write_text(tmp_path / "m", "1")
    (tmp_path / "other").touch()
    assert (tmp_path / "m").stat().st_mode == (tmp_path / "other").stat().st_mode
    (tmp_path / "m").chmod(0o600)
    atomic_write_text(tmp_path / "m", "2", force=True)
    assert (tmp_path / "m").stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_new_file_respects_the_umask(tmp_path: Path, mask: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.umask(mask)
    try:
        with monkeypatch.context() as patch:
            patch.delattr(os, "umask")  # changing it would affect other threads
            with atomic_write(tmp_path / "new") as file:
                part = next(tmp_path.glob(".new.*.part"))
                assert part.stat().st_mode & 0o777 == 0o666 & ~mask
                file.write(b"a")
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o666 & ~mask


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_replaced_file_is_never_more_open(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"secret")
    path.chmod(mode)
    with atomic_write(path, force=True) as file:
        part = next(tmp_path.glob(".old.*.part"))
        assert part.stat().st_mode & 0o777 == 0o600
        file.write(b"new")
    assert path.stat().st_mode & 0o777 == mode


def test_abandoned_temporary_files_are_removed(tmp_path: Path) -> None:
    name = "m" * 240
    of_dead_process = tmp_path / f".{name[:40]}.999999999-abc.part"
    recent = tmp_path / f".{name[:40]}.999999999-def.part"
    of_this_process = tmp_path / f".{name[:40]}.{os.getpid()}-abc.part"
    for left, age in ((of_dead_process, 1000), (recent, 1), (of_this_process, 1000)):
        left.touch()
        os.utime(left, (time.time() - age,) * 2)
    atomic_write_text(tmp_path / name, "new")
    assert set(tmp_path.iterdir()) == {tmp_path / name, recent, of_this_process}


def test_pipe_is_written_directly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    atomic_write_text(pipe, "content", force=True)
    reader.join(10)
    assert found == [b"content"]
    assert pipe.is_fifo()


def test_file_system_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Path, target: Path) -> None:
        raise OSError("not supported")

    monkeypatch.setattr(Path, "hardlink_to", fail)
    atomic_write_text(tmp_path / "file", "content")
    assert (tmp_path / "file").read_text() == "content"
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


@pytest.mark.process
@pytest.mark.slow
def test_killed_process_leaves_old_or_new_file_and_is_resumed() -> None:
    command = [sys.executable, str(CRASH), "--saves", "20", "--fits", "3"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("20 kills during saves")
    assert re.search(r"3 kills during fits: \d completed, with the expected labels", result.stdout)


@pytest.mark.process
def test_full_disk_leaves_old_file(tmp_path: Path) -> None:
    result = run_python(f"""
import resource
from pathlib import Path
from boostkmeans._storage.atomic_file import atomic_write_text
folder = Path({str(tmp_path)!r})
atomic_write_text(folder / "file", "old")
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
for name in ("file", "new"):
    try:
        atomic_write_text(folder / name, "x" * 100_000, force=True)
    except OSError as error:
        print(error.strerror, [one.name for one in folder.iterdir()])
print((folder / "file").read_text())
""")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "File too large ['file']\n" * 2 + "old\n"


@pytest.mark.process
def test_read_only_folder_leaves_old_file() -> None:
    # Root may write to every folder: the child process changes to another user.
    result = run_python("""
import os, tempfile
from pathlib import Path
from boostkmeans._storage.atomic_file import atomic_write_text
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "file")
    atomic_write_text(path, "old")
    os.chmod(folder, 0o555)
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setuid(65534)
            for name in ("file", "new"):
                try:
                    atomic_write_text(Path(folder, name), "new", force=True)
                except PermissionError:
                    print("rejected", path.read_text(), os.listdir(folder), flush=True)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.chmod(folder, 0o755)
""")
    assert result.stdout == "rejected old ['file']\n" * 2, result.stderr
