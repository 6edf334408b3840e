"""Memory of the current process, as Linux reports it."""

from pathlib import Path


def reset_peak() -> float:
    """Reset the peak of the resident memory, and return the current resident memory in MB.

    Return NaN on systems without this interface.
    """
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return float("nan")
    return megabytes("VmRSS")


def megabytes(field: str) -> float:
    """Return a field of `/proc/self/status` in MB (e.g. "VmHWM", the peak), or NaN without that file."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return float("nan")
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))
