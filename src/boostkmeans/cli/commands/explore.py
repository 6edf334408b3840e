"""`boostkmeans explore`: write a page that shows the clusters of a model."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from boostkmeans._runtime.installation import install_hint
from boostkmeans.cli.command import Result, command
from boostkmeans.cli.files.input import check_side_files, input_files
from boostkmeans.cli.files.model_input import read_model
from boostkmeans.cli.files.output import Output, check_ending, check_outputs, output_to, writing_to
from boostkmeans.cli.files.page_output import check_page, typed_command
from boostkmeans.cli.files.table_input import read_lines, read_table
from boostkmeans.cli.files.text_files import read_all_texts, text_files
from boostkmeans.cli.listing import two_columns
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import CommonOptions, InputOptions, ModelPath, RunOptions, VectorsPaths
from boostkmeans.explore import Page, page
from boostkmeans.io import Vectors, open_vectors, parse_bytes
from boostkmeans.io._access.folder import files_below


@dataclass(frozen=True)
class ContentOptions:
    """Files with the contents of the rows."""

    texts: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="Text of each row: one per line, or a column of a table (.csv, .tsv, .jsonl, .parquet, "
            ".arrow). Clusters are named after their texts. As for vectors, a folder or a quoted "
            "pattern stands for its files; repeat the option for several files, in the order of the "
            "vectors.",
        ),
    ] = None
    text_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Column of the texts (default: text, or the only column)."),
    ] = None
    images: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Folder with the image of each row, in the order of the file names. With --id, the ids "
            "are the file names.",
        ),
    ] = None
    table: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Table with one row per vector: .csv, .tsv, .jsonl, .parquet or .arrow.",
        ),
    ] = None
    coordinates: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Place of each row on the map, in two columns, in any format of vectors (default: "
            "computed).",
        ),
    ] = None
    names: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Names of the clusters, one per line (default: generated)."),
    ] = None

    @property
    def side_files(self) -> dict[str, str | None]:
        """Single files by option."""
        return {
            "--table": self.table,
            "--coordinates": self.coordinates,
            "--names": self.names,
        }


@expand_option_groups
def explore(
    context: typer.Context,
    model_path: ModelPath,
    paths: VectorsPaths,
    *,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File for the page, e.g. page.html. It may be left out if --parquet is given.",
        ),
    ] = None,
    contents: ContentOptions,
    parquet: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File for x, y, cluster, name, id and text of each row, for other tools.",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the page.")] = None,
    max_bytes: Annotated[
        str,
        typer.Option(
            metavar="AMOUNT", help="Limit for texts, thumbnails and values in the page, e.g. 50MB."
        ),
    ] = "20MB",
    run_options: RunOptions,
    input_options: InputOptions,
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans explore model.safetensors vectors.npy -o page.html
      boostkmeans explore model.safetensors vectors.npy -o a.html --texts texts.txt
      boostkmeans explore model.safetensors vectors.npy --parquet a.parquet

    Write a page that shows the clusters of a model: a map of the rows, a table of the clusters, and the
    central, borderline and outlying rows of each cluster. The page is one HTML file, which needs neither
    a server nor a network.

    The vectors may be larger than memory. The page contains the texts, thumbnails or values of some rows
    of each cluster, and says what it leaves out.
    """
    with command(common) as run:
        _check_contents(contents)
        page_to = output_to(output, force=common.force)
        parquet_to = output_to(parquet, force=common.force)
        _check_any_output(page_to, parquet_to)
        check_page("--output", page_to)
        _check_parquet(parquet_to)
        check_side_files(contents.side_files)
        for path in contents.texts or []:
            check_side_files({"--texts": path})
        texts = text_files(contents.texts or [])
        inputs = {"MODEL": model_path, "PATH": input_files(paths, input_options), "--texts": texts}
        check_outputs(
            {**inputs, **contents.side_files},
            {"--output": page_to, "--parquet": parquet_to},
        )
        budget = parse_bytes(max_bytes)
        model = read_model(model_path, run_options.threads, paths)
        with run.reading(paths, input_options, model=model_path) as (vectors, display):
            ids = None if input_options.id_column is None else vectors.ids
            found = page(
                model,
                vectors,
                texts=read_all_texts(texts, contents.text_column) if texts else None,
                images=None if contents.images is None else _image_paths(contents.images, ids),
                table=None if contents.table is None else read_table(contents.table),
                coordinates=None if contents.coordinates is None else _load(contents.coordinates),
                ids=ids,
                title=title,
                names=None if contents.names is None else read_lines(contents.names),
                max_bytes=budget,
                random_state=run_options.seed,
                n_threads=run_options.threads,
                progress=run.reporter(display, "rows"),
                command=typed_command(context),
            )
        if page_to is not None:
            with writing_to(page_to.path):
                found.save(page_to.path, force=page_to.force)
        if parquet_to is not None:
            with writing_to(parquet_to.path):
                found.save_parquet(parquet_to.path, force=parquet_to.force)
        run.print_result(_result(found, model_path, vectors, page_to, parquet_to), _listing)


def _check_contents(contents: ContentOptions) -> None:
    given = {"--texts": contents.texts, "--images": contents.images, "--table": contents.table}
    names = [name for name, value in given.items() if value]
    if len(names) > 1:
        raise ValueError(f"{' and '.join(names)} cannot be combined: choose one of them.")
    if contents.text_column is not None and not contents.texts:
        raise ValueError("--text-column has no effect without --texts.")


def _check_any_output(page_to: Output | None, parquet_to: Output | None) -> None:
    if page_to is None and parquet_to is None:
        raise ValueError("Name a file for the page with -o, or a file for other tools with --parquet.")


def _check_parquet(output: Output | None) -> None:
    check_ending("--parquet", output, (".parquet", ".pq"), stdout=False)
    if output is not None and find_spec("pyarrow") is None:
        raise ImportError(f"--parquet needs pyarrow: {install_hint('parquet')}")


def _image_paths(folder: str, ids: Any) -> list[Path]:
    """Return the image of each row: by the ids of the rows, or all files of the folder in order."""
    if not Path(folder).is_dir():
        raise NotADirectoryError(f"--images must be a folder. {folder} is not one.")
    if ids is not None:
        return [_inside(Path(folder), str(one)) for one in ids]
    names = sorted(files_below(Path(folder), lambda name, reason: None))
    return [Path(folder, name) for name in names]


def _inside(folder: Path, name: str) -> Path:
    """Return a file of a folder. Ids come from files that may be untrusted."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise ValueError(f"With --images, ids must be names of files in {folder}. Got {name!r}.")
    return folder / name


def _load(path: str) -> Any:
    with open_vectors(path) as vectors:
        return vectors.load() if not vectors.is_sparse else vectors.load().toarray()


def _result(
    found: Page, model_path: str, vectors: Vectors, page_to: Output | None, parquet_to: Output | None
) -> Result:
    outputs = {"page": page_to, "parquet": parquet_to}
    size = {} if page_to is None else {"page_bytes": len(found.html.encode("utf-8"))}
    return {
        "source": vectors.name,
        "model": model_path,
        "title": found.title,
        "n_rows": found.n_rows,
        "n_clusters": len(found.names),
        "names": found.names,
        **size,
        "omitted": found.omitted,
        "files": {what: one.path for what, one in outputs.items() if one is not None},
    }


def _listing(result: Result) -> str:
    pairs = [("rows", f"{result['n_rows']:,}"), ("clusters", f"{result['n_clusters']:,}")]
    # Without a page, nothing is left out of it.
    if "page_bytes" in result:
        pairs.append(("size", f"{result['page_bytes'] / 1e6:.1f} MB"))
    notes = [("note", sentence) for sentence in result["omitted"] if "page_bytes" in result]
    return two_columns([*pairs, *result["files"].items(), *notes])
