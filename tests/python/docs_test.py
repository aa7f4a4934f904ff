"""Every piece of code in docs/python.md, one after the other."""
import re

import pytest

from conftest import BUILD, ROOT


@pytest.mark.filterwarnings("ignore")
def test_the_page_runs(tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "build").symlink_to(BUILD)
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "python.md").read_text()
    pieces = re.findall(r"```python\n(.*?)```", page, re.S)
    assert len(pieces) >= 10
    names = {}
    for piece in pieces:
        exec(compile(piece, "docs/python.md", "exec"), names)
