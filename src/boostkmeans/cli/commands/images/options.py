"""Options of `boostkmeans images`."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.cli.files.input import check_side_files

VLAD = "vlad"
# Values of parameters of `cluster_images` and `VLADPipeline`.
Method = StrEnum("Method", ["k-way", "bisecting", "refined"])
Keypoints = StrEnum("Keypoints", ["sift", "hessian-affine"])


@dataclass(frozen=True)
class VectorOptions:
    """Options that determine the vectors of the images."""

    features: Annotated[
        str,
        typer.Option(
            metavar="vlad|FILE|MODEL.onnx",
            help="Vectors of the images: vlad computes them from keypoints, MODEL.onnx by a neural "
            "network, and any other FILE has one row per image, in the sorted order of the paths.",
        ),
    ] = VLAD
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="Column of the features FILE with the path of each image, relative to FOLDER.",
        ),
    ] = None
    key: Annotated[
        list[str] | None,
        typer.Option(
            "--key",
            metavar="NAME",
            help="Array or column of the features FILE; repeat the option for several columns.",
        ),
    ] = None
    pipeline: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Compute VLAD vectors by a pipeline that --save-pipeline wrote."
        ),
    ] = None
    words: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Number of visual words of VLAD (default: 64)."),
    ] = None
    components: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Largest number of components of VLAD (default: 512)."),
    ] = None
    keypoints: Annotated[Keypoints | None, typer.Option(help="Keypoints of VLAD (default: sift).")] = (
        None
    )
    size: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="PIXELS",
            help="Height and width of images for an ONNX model that accepts any size (default: 224).",
        ),
    ] = None
    mean: Annotated[
        str | None,
        typer.Option(
            metavar="R,G,B", help="Mean colour that an ONNX model expects (default: that of ImageNet)."
        ),
    ] = None
    std: Annotated[
        str | None,
        typer.Option(
            metavar="R,G,B",
            help="Standard deviation of the colours that an ONNX model expects (default: that of "
            "ImageNet).",
        ),
    ] = None
    model_output: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Output of an ONNX model to use (default: the first one)."),
    ] = None

    def check(self) -> None:
        """Raise an error if options contradict each other or name a pipe."""
        check_side_files({"--features": self.features, "--pipeline": self.pipeline})
        if self.pipeline is not None and self.features != VLAD:
            raise ValueError("--pipeline computes VLAD vectors: leave out --features.")
        self._check_effect(
            "a new VLAD pipeline", self.features == VLAD and self.pipeline is None, self._vlad()
        )
        self._check_effect("an ONNX model", self._is_onnx, self._onnx())
        is_file = self.features != VLAD and not self._is_onnx
        self._check_effect("a file of features", is_file, {"--id": self.id_column, "--key": self.key})

    def files(self) -> dict[str, str | None]:
        """Return the files that are read, by option."""
        return {
            "--features": None if self.features == VLAD else self.features,
            "--pipeline": self.pipeline,
        }

    def build(self, seed: int, n_jobs: int | None, progress: ProgressCallback) -> Any:
        """Return the `features` argument of `cluster_images`."""
        from boostkmeans.images import OnnxFeatures, VLADPipeline

        if self.pipeline is not None:
            loaded = VLADPipeline.load(self.pipeline)
            return loaded.set_params(n_jobs=n_jobs, progress=progress)
        if self.features == VLAD:
            return VLADPipeline(
                self.words or 64,
                self.components or 512,
                keypoints=str((self.keypoints or Keypoints.sift).value),
                random_state=seed,
                n_jobs=n_jobs,
                progress=progress,
            )
        if not self._is_onnx:
            return self.features
        colours: dict[str, Any] = {
            name: _parse_colour(f"--{name}", text)
            for name, text in (("mean", self.mean), ("std", self.std))
            if text is not None
        }
        return OnnxFeatures(
            self.features, size=self.size, output=self.model_output, n_jobs=n_jobs, progress=progress,
            **colours,
        )  # fmt: skip

    @property
    def _is_onnx(self) -> bool:
        return Path(self.features).suffix.lower() == ".onnx"

    def _vlad(self) -> dict[str, object]:
        return {
            "--words": self.words,
            "--components": self.components,
            "--keypoints": self.keypoints,
        }

    def _onnx(self) -> dict[str, object]:
        return {
            "--size": self.size,
            "--mean": self.mean,
            "--std": self.std,
            "--model-output": self.model_output,
        }

    @staticmethod
    def _check_effect(what: str, is_used: bool, given: dict[str, object]) -> None:
        """Raise an error if an option is given that has no effect."""
        for option, value in given.items():
            if value and not is_used:
                raise ValueError(f"{option} is for {what} only. Leave it out.")


@dataclass(frozen=True)
class ImageOutputOptions:
    """Files that the command writes."""

    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="MODEL", help="File for the model.")
    ] = None
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File for the cluster of each image: .csv, .tsv or .parquet with the columns id and "
            "cluster; - prints them only.",
        ),
    ] = None
    vectors: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File for the vectors, in the order of the labels: .npy, .fvecs, .fbin or .parquet.",
        ),
    ] = None
    page: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="File for a page (.html) that shows the clusters."),
    ] = None
    save_pipeline: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="File for the VLAD pipeline, to describe new images."),
    ] = None


def parse_duplicates(text: str) -> float | str | None:
    """Return the `duplicates` argument of `cluster_images`.

    >>> [parse_duplicates(text) for text in ("auto", "none", "0.9")]
    ['auto', None, 0.9]
    """
    if text in ("auto", "none"):
        return text if text == "auto" else None
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"--duplicates must be a number above 0 and at most 1, auto or none. Got {text!r}."
        ) from None


def _parse_colour(option: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"{option} must be three numbers with commas. Got {text!r}.") from None
