"""The notebooks, each in a kernel of its own. What they draw is in the build folder, to be looked at."""
import base64
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient

from conftest import BUILD, ROOT

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
PICTURES = BUILD / "python" / "pictures"


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_it_runs_and_draws(file, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    book = nbformat.read(file, as_version=4)
    assert all(not cell.get("outputs") for cell in book.cells)  # they are made where it is run
    client = NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": ROOT}})
    client.execute()
    PICTURES.mkdir(parents=True, exist_ok=True)
    pictures = 0
    for cell in book.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" in data:
                pictures += 1
                (PICTURES / f"{file.stem}_{pictures}.png").write_bytes(base64.b64decode(data["image/png"]))
    assert pictures >= 1
    nbformat.write(book, PICTURES / file.name)


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_outside_the_project_it_ends_with_what_to_do(file, tmp_path):
    book = nbformat.read(file, as_version=4)
    first = next(cell for cell in book.cells if cell.cell_type == "code")
    done = subprocess.run([sys.executable, "-c", first.source], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "open this notebook in examples/notebooks" in done.stderr


def test_there_are_seven():
    assert len(NOTEBOOKS) == 7
