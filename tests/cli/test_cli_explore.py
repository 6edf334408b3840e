"""`boostkmeans explore`, and --page of other commands."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

from boostkmeans import BoostKMeans
from boostkmeans.cli.files.page_output import typed_command
from command import ROOT, fail, run, run_on_terminal, succeed

N = 60


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a model, vectors and contents of the rows."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(N, 3)) + 20 * np.eye(3)[np.arange(N) % 3]
    np.save("X.npy", X)
    np.save("xy.npy", X[:, :2])
    BoostKMeans(3, random_state=0).fit(X).save("model.st")
    words = ["green tea", "dark rum", "red wine"]
    texts = [f"{words[i % 3]} no {i}" for i in range(N)]
    Path("texts.txt").write_text("\n".join(["", *texts[1:]]) + "\n")
    rows = "".join(f'{i},"{text}",{i % 3}\n' for i, text in enumerate(texts))
    Path("table.csv").write_text(f"id,body,kind\n{rows}")
    Path("table.jsonl").write_text(
        "".join(json.dumps({"text": text, "size": i}) + "\n" for i, text in enumerate(texts))
    )
    Path("names.txt").write_text("A\nB\n<b>\n")
    return tmp_path


def payload(path: str) -> dict[str, Any]:
    text = Path(path).read_text(encoding="utf-8")
    (data,) = re.findall(r'id="data">(.*?)</script>', text, re.DOTALL)
    found = json.loads(data)
    assert isinstance(found, dict)
    return found


@pytest.mark.usefixtures("folder")
def test_texts_and_parquet() -> None:
    out = succeed(
        "explore", "model.st", "X.npy", "-o", "page.html", "--texts", "texts.txt", "--parquet",
        "map.parquet", "--coordinates", "xy.npy", "--title", "Drinks",
    )  # fmt: skip
    assert "page.html" in out
    found = payload("page.html")
    assert (found["title"], found["kind"], found["n_rows"]) == ("Drinks", "text", N)
    assert found["rows"]["text"][:2] == ["", "dark rum no 1"]
    assert any("tea" in cluster["name"] for cluster in found["clusters"])
    assert found["command"] == (
        "boostkmeans explore model.st X.npy -o page.html --texts texts.txt --coordinates xy.npy "
        "--parquet map.parquet --title Drinks"
    )
    table = pyarrow.parquet.read_table("map.parquet").to_pydict()
    assert list(table) == ["x", "y", "cluster", "name", "text"]
    assert table["text"][2] == "red wine no 2"
    np.testing.assert_array_equal(np.load("xy.npy")[:, 0], table["x"])
    assert "--force" in fail(2, "explore", "model.st", "X.npy", "-o", "page.html")
    succeed("explore", "model.st", "X.npy", "-o", "page.html", "--coordinates", "xy.npy", "--force")
    assert payload("page.html")["kind"] == "vector"


@pytest.mark.usefixtures("folder")
def test_tables_and_json() -> None:
    common = ["explore", "model.st", "X.npy", "--coordinates", "xy.npy"]
    result = json.loads(succeed(*common, "-o", "a.html", "--table", "table.csv", "--json"))
    assert (result["n_rows"], result["n_clusters"], result["files"]) == (N, 3, {"page": "a.html"})
    assert result["page_bytes"] == Path("a.html").stat().st_size
    found = payload("a.html")
    assert found["columns"] == ["id", "body", "kind"]
    assert found["rows"]["values"][4] == ["4", "dark rum no 4", "1"]
    succeed(*common, "-o", "b.html", "--texts", "table.csv", "--text-column", "body")
    Path("numbers.csv").write_text("text\n" + "".join(f"{i:03}\n" for i in range(N)))
    succeed(*common, "-o", "d.html", "--texts", "numbers.csv")
    assert payload("d.html")["rows"]["text"][:2] == ["000", "001"]
    succeed(*common, "-o", "c.html", "--texts", "table.jsonl", "--names", "names.txt")
    assert payload("b.html")["rows"]["text"] == payload("c.html")["rows"]["text"]
    assert [cluster["name"] for cluster in payload("c.html")["clusters"]] == ["A", "B", "<b>"]


@pytest.mark.usefixtures("folder")
def test_texts_of_several_files() -> None:
    X, texts = np.load("X.npy"), [f"text {i}" for i in range(N)]
    for part, begin in enumerate(range(0, N, 20)):
        some = slice(begin, begin + 20)
        columns = {"embedding": list(X[some]), "text": texts[some]}
        Path("parts").mkdir(exist_ok=True)
        pyarrow.parquet.write_table(pyarrow.table(columns), f"parts/emb-{part}.parquet")
        Path(f"texts-{part}.txt").write_text("\n".join(texts[some]))
    Path("parts/_SUCCESS").touch()
    common = ["explore", "model.st", "--coordinates", "xy.npy"]
    for name, vectors, given in [
        ("pattern", ["parts/emb-*.parquet"], ["parts/emb-*.parquet"]),
        ("folder", ["parts"], ["parts"]),
        ("lines", ["X.npy"], ["texts-0.txt", "texts-[12].txt"]),
    ]:
        options = [word for one in given for word in ("--texts", one)]
        key = [] if name == "lines" else ["--key", "embedding"]
        succeed(*common, *vectors, *options, *key, "-o", f"{name}.html")
        assert payload(f"{name}.html")["rows"]["text"] == texts, name
    assert "--texts parts" in payload("folder.html")["command"]
    reversed_ = ["--texts", "texts-[12].txt", "--texts", "texts-0.txt"]
    succeed(*common, "X.npy", *reversed_, "-o", "reversed.html")
    assert payload("reversed.html")["rows"]["text"] == texts[20:] + texts[:20]
    few = fail(2, *common, "X.npy", "--texts", "texts-[12].txt", "-o", "few.html")
    assert "40 entries" in few
    assert "no*.txt matches no file" in fail(2, *common, "X.npy", "--texts", "no*.txt", "-o", "a.html")
    assert "several formats: .csv, .jsonl, .txt" in fail(
        3, *common, "X.npy", "--texts", ".", "-o", "a.html"
    )
    Path("empty").mkdir()
    assert "a folder without files of texts" in fail(2, *common, "X.npy", "--texts", "empty", "-o", "a")
    for path in ("texts-1.txt", "parts/emb-1.parquet"):
        folder = Path(path).parent
        message = fail(2, *common, "X.npy", "--texts", f"{folder}/*-1.*", "-o", path, "--force")
        assert "cannot be both --texts and --output" in message


@pytest.mark.usefixtures("folder")
def test_parquet_needs_no_page() -> None:
    common = ["explore", "model.st", "X.npy", "--coordinates", "xy.npy"]
    out = succeed(*common, "--parquet", "map.parquet")
    assert "map.parquet" in out
    assert "size" not in out
    assert pyarrow.parquet.read_table("map.parquet").num_rows == N
    assert not list(Path().glob("*.html"))
    result = json.loads(succeed(*common, "--parquet", "map.parquet", "--force", "--json"))
    assert result["files"] == {"parquet": "map.parquet"}
    assert "with -o, or a file for other tools with --parquet" in fail(2, *common)


@pytest.mark.usefixtures("folder")
def test_texts_of_any_length() -> None:
    """The csv module refuses fields of more than 131,072 characters, unless its limit is raised."""
    common = ["explore", "model.st", "X.npy", "--coordinates", "xy.npy", "--texts"]
    texts = [f"tea {i}" for i in range(N - 1)] + ["wine " * 40_000]
    limit = csv.field_size_limit()
    for name, separator in (("long.csv", ","), ("long.tsv", "\t")):
        Path(name).write_text("\n".join([f"text{separator}i", *(f"{one}{separator}0" for one in texts)]))
        succeed(*common, name, "-o", f"{name}.html")
        assert payload(f"{name}.html")["rows"]["text"][-1].startswith("wine wine")
    Path("header.csv").write_text(f"{'a' * 200_000},text\n" + "0,tea\n" * N)
    succeed(*common, "header.csv", "-o", "header.html")
    assert csv.field_size_limit() == limit, "the limit of the process must be restored"


@pytest.mark.usefixtures("folder")
def test_quotes_in_tables() -> None:
    """Tab-separated values have no quotes, as in `docs`. An unclosed quote must not join rows."""
    common = ["explore", "model.st", "X.npy", "--coordinates", "xy.npy", "--texts"]
    Path("a.tsv").write_text("text\n" + '"Tea" is green\n"open\n' * (N // 2))
    succeed(*common, "a.tsv", "-o", "a.html")
    assert payload("a.html")["rows"]["text"][:2] == ['"Tea" is green', '"open']
    Path("a.csv").write_text("text\n" + "tea\n" * (N - 1) + '"open\n')
    assert "line 61: The quotes of this row" in fail(3, *common, "a.csv", "-o", "b.html")


@pytest.mark.usefixtures("folder")
def test_images_by_order_and_by_id() -> None:
    Path("photos").mkdir()
    for i in range(N):
        Image.new("RGB", (8, 8), (4 * i, 0, 0)).save(f"photos/{i:02}.png")
    common = ["explore", "model.st", "--coordinates", "xy.npy", "--images", "photos"]
    succeed(*common, "X.npy", "-o", "a.html")
    X = np.load("X.npy")
    lines = [f"{N - 1 - i:02}.png,{','.join(map(str, X[i]))}" for i in range(N)]
    Path("X.csv").write_text("\n".join(["file,a,b,c", *lines]))
    succeed(*common, "X.csv", "--id", "file", "-o", "b.html")
    first, second = payload("a.html")["rows"], payload("b.html")["rows"]
    assert first["id"][:2] == ["00.png", "01.png"]
    assert first["image"] == second["image"][::-1]
    Path("X.csv").write_text("\n".join(["file,a,b,c", f"../x.png{lines[0][6:]}", *lines[1:]]))
    assert "names of files in photos" in fail(2, *common, "X.csv", "--id", "file", "-o", "c.html")


@pytest.mark.usefixtures("folder")
def test_errors() -> None:
    common = ["explore", "model.st", "X.npy", "-o", "a.html"]
    assert "choose one" in fail(2, *common, "--texts", "texts.txt", "--table", "table.csv")
    assert "--text-column" in fail(2, *common, "--text-column", "a")
    assert "There is no column 'text'" in fail(3, *common, "--texts", "table.csv")
    assert ".parquet or .pq" in fail(2, *common, "--parquet", "map.csv")
    assert "must be a file" in fail(2, "explore", "model.st", "X.npy", "-o", "-")
    assert "not a folder" in fail(2, *common, "--images", "X.npy").replace("is not one", "not a folder")
    Path("short.txt").write_text("one\n")
    assert "--texts has 1 entries, and there are 60 rows" in fail(2, *common, "--texts", "short.txt")
    assert "--names has 1 entries" in fail(2, *common, "--names", "short.txt")
    Path("bad.csv").write_text("a,b\n1\n")
    assert "line 2: Expected 2 columns" in fail(3, *common, "--table", "bad.csv")
    Path("bad.jsonl").write_text("[1]\n")
    assert "one JSON object per line" in fail(3, *common, "--table", "bad.jsonl")
    Path("bad.csv").write_text("a,b,a\n1,2,3\n")
    assert "Two columns have the same name, 'a'" in fail(3, *common, "--table", "bad.csv")
    twice = pyarrow.table([[1] * N, [2] * N], names=["a", "a"])
    pyarrow.parquet.write_table(twice, "twice.parquet")
    assert "Two columns have the same name, 'a'" in fail(3, *common, "--table", "twice.parquet")
    Path("bad.parquet").write_text("PAR1")
    assert "cannot be read" in fail(3, *common, "--table", "bad.parquet")
    assert "not a table" in fail(3, *common, "--table", "texts.txt")
    assert not Path("a.html").exists()


@pytest.mark.usefixtures("folder")
def test_fit_and_docs_write_pages() -> None:
    out = json.loads(succeed("fit", "X.npy", "-k", "3", "--page", "fit.html", "--json"))
    assert out["files"] == {"page": "fit.html"}
    assert payload("fit.html")["command"] == "boostkmeans fit X.npy -k 3 --page fit.html"
    sentences = str(ROOT / "examples" / "sentences.txt")
    found = json.loads(succeed("docs", sentences, "-k", "3", "--page", "docs.html", "--json"))
    page = payload("docs.html")
    assert [one["name"] for one in page["clusters"]] == [one["name"] for one in found["clusters"]]
    assert page["title"] == f"Documents of {sentences}"
    assert page["rows"]["id"][:2] == ["line 1", "line 2"]
    assert page["tree"] is not None
    assert "--force" in fail(2, "docs", sentences, "-k", "3", "--page", "docs.html")


@pytest.mark.usefixtures("folder")
def test_fit_shows_the_progress_of_its_page() -> None:
    code, _, screen = run_on_terminal("fit", "X.npy", "-k", "3", "--page", "fit.html")
    assert (code, "writing the page" in screen) == (0, True)
    result = run("fit", "X.npy", "-k", "3", "--page", "fit.html", "--force", "--verbose")
    lines = result.stderr.splitlines()
    assert "boostkmeans: writing the page" in lines, "--verbose prints lines"


@pytest.mark.usefixtures("folder")
def test_page_shows_the_whole_command() -> None:
    sentences = str(ROOT / "examples" / "sentences.txt")
    options = ["-k", "3", "--stop-words", "english", "--sublinear", "--seed", "4"]
    succeed("docs", sentences, *options, "--page", "my docs.html", "--force", "--json")
    typed = payload("my docs.html")["command"].replace("'my docs.html'", "--my docs.html--")
    for word in ("--stop-words english", "--sublinear", "--seed 4", "--page --my docs.html--"):
        assert word in typed
    assert "--force" not in typed
    assert "--json" not in typed
    succeed("fit", "X.npy", "-k", "3", "--metric", "cosine", "--page", "fit.html")
    assert payload("fit.html")["command"] == (
        "boostkmeans fit X.npy -k 3 --page fit.html --metric cosine"
    )


def test_commands_hide_passwords() -> None:
    shown: list[str] = []
    app = typer.Typer()

    @app.command()
    def fit(context: typer.Context, paths: list[str], texts: str | None = None, k: int = 3) -> None:
        shown.append(typed_command(context))

    @app.command()
    def other() -> None:
        """Make the first command a subcommand."""

    url = "https://user:secret@host/x.npy?key=1"
    result = CliRunner().invoke(app, ["fit", url, "b.npy", "--texts", url, "--k", "5"])
    assert result.exit_code == 0, result.output
    assert shown == ["boostkmeans fit https://host/x.npy b.npy --texts https://host/x.npy --k 5"]
