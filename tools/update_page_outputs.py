"""Run the examples of the tutorial and of the page on embeddings, and store what they print and draw.

A `text` block directly after a Python block is the output of this block. A picture that an example
saves as `NAME.png` is stored as `docs/images/PAGE_NAME.png`, if the page shows this file. The tests
compare the outputs with `masked`, because times vary.
"""

import contextlib
import io
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from boostkmeans._runtime.instruction_set import instruction_sets, using_instruction_set

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = ("docs/tutorial.md", "docs/embeddings.md")
# A Python block, and the block with its output if there is one.
BLOCK = re.compile(r"```python\n(?P<code>.*?)```(?:\n\n```text\n(?P<output>.*?)```)?", re.DOTALL)
# Instruction set of the examples, so that the outputs do not depend on the processor. Kernels round
# float32 scores differently, and a fit may then end in another optimum.
INSTRUCTION_SET = "avx2"
# Seconds, which vary from run to run.
SECONDS = re.compile(r"\b\d+\.\d+ s\b")


def masked(output: str) -> str:
    """Return an output without times and without spaces at the ends of lines.

    >>> masked("sweep 3: 0.123 s  ")
    'sweep 3: T s'
    """
    return "\n".join(line.rstrip() for line in SECONDS.sub("T s", output).splitlines())


def expected_outputs(page: Path) -> list[str | None]:
    """Return the stored output of each Python block of a page, or None for blocks without one."""
    return [found["output"] for found in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def run_blocks(page: Path) -> list[str]:
    """Run the Python blocks of a page in order, in the current folder. Return what each one prints."""
    names: dict[str, object] = {"__name__": "__main__"}
    printed = []
    with fixed_instruction_set():
        for found in BLOCK.finditer(page.read_text(encoding="utf-8")):
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile(found["code"], str(page), "exec"), names)
            printed.append(output.getvalue())
    return printed


def is_comparable() -> bool:
    """Return whether this processor can reproduce the stored outputs."""
    return INSTRUCTION_SET in instruction_sets()


def fixed_instruction_set() -> contextlib.AbstractContextManager[None]:
    """Use the instruction set of the stored outputs, if this processor has it."""
    return using_instruction_set(INSTRUCTION_SET) if is_comparable() else contextlib.nullcontext()


def with_outputs(text: str, printed: list[str]) -> str:
    """Return a page with these outputs in the place of the stored ones."""
    outputs = iter(printed)

    def replaced(found: re.Match[str]) -> str:
        output = next(outputs)
        if found["output"] is None:
            return found[0]
        lines = "".join(f"{line.rstrip()}\n" for line in output.splitlines())
        return f"```python\n{found['code']}```\n\n```text\n{lines}```"

    return BLOCK.sub(replaced, text)


def update(page: Path) -> None:
    """Run a page, and store its outputs and pictures."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        os.chdir(folder)
        try:
            printed = run_blocks(page)
            text = page.read_text(encoding="utf-8")
            for picture in sorted(Path(folder).glob("*.png")):
                name = f"{page.stem}_{picture.name}"
                if f"(images/{name})" in text:
                    shutil.copy(picture, DOCS / "images" / name)
        finally:
            os.chdir(before)
    page.write_text(with_outputs(text, printed), encoding="utf-8")


if __name__ == "__main__":
    import matplotlib

    matplotlib.use("Agg")
    for name in sys.argv[1:] or PAGES:
        update(ROOT / name)
