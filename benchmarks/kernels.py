"""Instructions per multiply-add in the inner loops of the kernels, for x86-64 and arm64.

The kernels are compiled as CMake does it, with the compilers of this machine, and the instructions of
the loops are counted. A time would say more, but there is no arm64 processor to measure it on.
"""

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from result_files import save_result

ROOT = Path(__file__).parents[1]
FLAGS = [
    "-std=c++20", "-fPIC", "-O3", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math",
]  # fmt: skip
COMPILERS = {
    "x86-64": {"GCC": ["g++"], "Clang": ["clang++-16"]},
    "arm64": {
        "GCC": ["aarch64-linux-gnu-g++"],
        "Clang": ["clang++-16", "--target=aarch64-linux-gnu"],
    },
}
DISASSEMBLERS = {"x86-64": "objdump", "arm64": "aarch64-linux-gnu-objdump"}


@dataclass(frozen=True)
class Loop:
    """A kernel, the function that has its loop, and the products that one instruction computes."""

    system: str
    kernel: str
    function: str
    product: str  # regular expression of the instructions that multiply
    products: int  # multiply-adds per instruction
    options: tuple[str, ...]


DOTPROD = ("-march=armv8.2-a+dotprod", "-DBK_DOTPROD")
BLOCKS = {"x86-64": (4, 2), "arm64": (8, 2)}
LOOPS = (
    Loop("x86-64", "baseline", "distances<2, false", "mulps", 4, ()),
    Loop("arm64", "baseline", "distances<2, false", "fmla", 4, ()),
    Loop("arm64", "dotprod", "byte_distances", "sdot", 16, DOTPROD),
)


def compile_kernel(loop: Loop, compiler: list[str], block: tuple[int, int], to: Path) -> None:
    """Compile kernel.cpp to an object file."""
    rows, vectors = block
    defined = {"BK_ISA": loop.kernel, "BK_VECTOR": 16, "BK_ROWS": rows, "BK_VECTORS": vectors}
    definitions = [f"-D{name}={value}" for name, value in defined.items()]
    source = ROOT / "src" / "core" / "kernel" / "kernel.cpp"
    command: list[str | Path] = [
        *compiler,
        *FLAGS,
        f"-I{ROOT / 'src' / 'core'}",
        *definitions,
        *loop.options,
    ]
    subprocess.run([*command, "-c", source, "-o", to], check=True)


def disassemble(path: Path, system: str) -> dict[str, list[tuple[int, str]]]:
    """Return the instructions of each function, with their addresses."""
    command: list[str | Path] = [DISASSEMBLERS[system], "-d", "-C", "--no-show-raw-insn", path]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    functions: dict[str, list[tuple[int, str]]] = {}
    name = ""
    for line in text.splitlines():
        if started := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            name = started[1]
        elif instruction := re.match(r"\s*([0-9a-f]+):\s+(\S.*)$", line):
            functions.setdefault(name, []).append((int(instruction[1], 16), instruction[2]))
    return functions


def densest_loop(instructions: list[tuple[int, str]], product: str) -> tuple[int, int]:
    """Return the numbers of instructions and of products of the innermost loop with most products.

    A loop is the code between a branch backwards and its target.
    """
    places = {address: place for place, (address, _) in enumerate(instructions)}
    loops = []
    for end, (_, text) in enumerate(instructions):
        branch = re.match(r"(?:j\w+|b\.\w+|cbn?z\s+\w+,|b)\s+([0-9a-f]+) <", text)
        begin = places.get(int(branch[1], 16), end) if branch is not None else end
        if begin < end:
            loops.append((begin, end))
    counts = [(0, 0)]
    for begin, end in loops:
        inner = any(begin <= a and b <= end and (a, b) != (begin, end) for a, b in loops)
        body = [text for _, text in instructions[begin : end + 1]]
        if not inner:
            counts.append((len(body), sum(bool(re.match(rf"{product}\b", text)) for text in body)))
    return max(counts, key=lambda two: two[1])


def count(loop: Loop, compiler: list[str], block: tuple[int, int]) -> dict[str, float | int]:
    """Return the instructions and the multiply-adds of one round of a loop, and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.o")
        compile_kernel(loop, compiler, block, path)
        functions = disassemble(path, loop.system)
    bodies = [body for name, body in functions.items() if loop.function in name]
    instructions, products = max(
        (densest_loop(body, loop.product) for body in bodies), key=lambda two: two[1]
    )
    sums = products * loop.products
    return {"instructions": instructions, "multiply_adds": sums, "ratio": round(instructions / sums, 4)}


def kernel_instructions() -> None:
    """Count the instructions per multiply-add of the kernels in their machine code."""
    rows = []
    for loop in LOOPS:
        for name, compiler in COMPILERS[loop.system].items():
            if shutil.which(compiler[0]) is None:
                print(f"{compiler[0]} is not installed")
                continue
            command = [compiler[0], "-dumpversion"]
            version = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            block = BLOCKS[loop.system]
            rows.append(
                {
                    "system": loop.system,
                    "kernel": loop.kernel,
                    "compiler": f"{name} {version.strip()}",
                    "rows": block[0],
                    "vectors": block[1],
                    **count(loop, compiler, block),
                }
            )
            print(rows[-1])
    save_result("kernel_instructions", {"loops": rows})


BENCHMARKS = [kernel_instructions]
