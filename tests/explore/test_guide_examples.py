"""Commands of docs/explorer.md about news and photographs, with a part of the real data."""

import gzip
import re
import shlex
import zipfile
from itertools import islice
from pathlib import Path

import pytest

from command import succeed
from data import shared_folder

GUIDE = Path(__file__).parents[2] / "docs" / "explorer.md"
NEWS = shared_folder() / "text" / "ag_news_test.tsv.gz"
PHOTOS = shared_folder() / "photos" / "pixabay_thumbs128.zip"
N_ARTICLES, N_PHOTOS = 300, 60


def command_with(word: str) -> list[str]:
    """Return the arguments of the command of the guide that contains a word."""
    blocks = re.findall(r"```sh\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)
    (line,) = [line for block in blocks for line in block.splitlines() if word in line]
    return shlex.split(line)[1:]


@pytest.mark.slow
@pytest.mark.skipif(not NEWS.exists(), reason="The test needs AG news")
def test_news(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with gzip.open(NEWS, "rb") as file, gzip.open(NEWS.name, "wb") as part:
        part.writelines(islice(file, N_ARTICLES))
    out = succeed(*command_with(NEWS.name))
    assert "classes" in out
    text = Path("ag_news.html").read_text()
    assert '"kind":"text"' in text


@pytest.mark.slow
@pytest.mark.skipif(not PHOTOS.exists(), reason="The test needs the thumbnails of photographs")
def test_photographs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cv2")
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile(PHOTOS) as archive:
        archive.extractall("photos", archive.namelist()[:N_PHOTOS])
    succeed(*command_with("photos.html"))
    text = Path("photos.html").read_text()
    assert '"kind":"image"' in text
    assert Path("photos.csv").read_text().startswith("id,cluster\n")
