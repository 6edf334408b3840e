"""An ONNX model that maps images to vectors."""

import os
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.images._packages import import_onnxruntime

Floats = NDArray[np.float32]

CHANNELS = 3
# Types of the input that are supported.
TYPES: dict[str, type[Any]] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
    "tensor(uint8)": np.uint8,
}
SHAPES = "one image input of shape (batch, 3, height, width) or (batch, height, width, 3)"


@dataclass(frozen=True)
class ImageInput:
    """The input of a model."""

    name: str
    dtype: type[Any]
    channels_first: bool
    """True for the order (batch, channels, height, width), False for channels last."""
    batch: int | None
    """Number of images per call. None means any."""
    height: int | None
    """Height in pixels. None means any."""
    width: int | None
    """Width in pixels. None means any."""

    @classmethod
    def of(cls, session: Any, path: str) -> Self:
        """Return the input of a model. Raise DataFormatError if it is not an image."""
        inputs = session.get_inputs()
        described = ", ".join(f"{escape_untrusted(one.name)} {one.type} {one.shape}" for one in inputs)

        def unsupported(problem: str) -> DataFormatError:
            return DataFormatError(
                f"{problem} Its inputs are: {described}.",
                file=path,
                remedy=f"Use a model with {SHAPES}.",
            )

        if len(inputs) != 1:
            raise unsupported(f"The model has {len(inputs)} inputs instead of 1.")
        [one] = inputs
        if one.type not in TYPES:
            raise unsupported(f"The input must be one of {', '.join(TYPES)}.")
        if len(one.shape) != 4:
            raise unsupported(f"The input has {len(one.shape)} dimensions instead of 4.")
        batch, *sides = (size if isinstance(size, int) and size > 0 else None for size in one.shape)
        channels_first = sides[0] == CHANNELS
        if not channels_first and sides[2] != CHANNELS:
            raise unsupported("Neither the second nor the last dimension of the input is 3.")
        height, width = sides[1:] if channels_first else sides[:2]
        return cls(one.name, TYPES[one.type], channels_first, batch, height, width)


class OnnxModel:
    """A model that was loaded by onnxruntime.

    Parameters
    ----------
    path : path-like
        File of the model.
    output : str or None
        Name of the output to use. None stands for the first one.
    n_threads : int
        Number of threads.
    """

    def __init__(self, path: str | os.PathLike[str], output: str | None, n_threads: int) -> None:
        self._path = os.fspath(path)
        self._session = _load(self._path, n_threads)
        self.input = ImageInput.of(self._session, self._path)
        names = [one.name for one in self._session.get_outputs()]
        if output is not None and output not in names:
            raise DataFormatError(
                f"The model has no output {output!r}. Its outputs are: "
                f"{', '.join(map(escape_untrusted, names))}.",
                file=self._path,
            )
        self._output = names[0] if output is None else output

    def run(self, images: Floats | NDArray[np.uint8]) -> Floats:
        """Return one vector per image. The images have the shape (n, height, width, 3)."""
        n = len(images)
        values = images.transpose(0, 3, 1, 2) if self.input.channels_first else images
        fed = np.ascontiguousarray(values, dtype=self.input.dtype)
        if self.input.batch is not None and n < self.input.batch:
            padding = [(0, self.input.batch - n), (0, 0), (0, 0), (0, 0)]
            fed = np.pad(fed, padding)
        try:
            [found] = self._session.run([self._output], {self.input.name: fed})
        except Exception as error:  # types of onnxruntime, which differ between versions
            raise DataFormatError(
                f"The model failed on images of shape {fed.shape}: {_first_line(error)}",
                file=self._path,
            ) from None
        array = np.asarray(found)
        if array.ndim < 2 or len(array) != len(fed) or array.dtype.kind not in "fiu":
            raise DataFormatError(
                f"The output {self._output!r} must have one vector per image. Got {array.dtype} of "
                f"shape {array.shape} for {len(fed)} images.",
                file=self._path,
            )
        vectors = array[:n].reshape(n, -1).astype(np.float32)
        if not np.isfinite(vectors).all():
            raise DataFormatError(
                f"The output {self._output!r} has values that are NaN or infinite.", file=self._path
            )
        return vectors


def _load(path: str, n_threads: int) -> Any:
    onnxruntime = import_onnxruntime()
    with open(path, "rb"):  # noqa: PTH123  # onnxruntime's error for a missing file has another type
        pass
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = n_threads
    options.log_severity_level = 4  # errors are raised as well
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise DataFormatError(f"Not a valid ONNX model: {_first_line(error)}", file=path) from None


def _first_line(error: Exception) -> str:
    return escape_untrusted((str(error).strip().splitlines() or [type(error).__name__])[0])
