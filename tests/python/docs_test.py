"""Every piece of code in docs/python.md, one after the other; every link of every page."""
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


def anchors(page):
    """Of the headings, as they are made by viewers of Markdown."""
    found = re.findall(r"^#+ +(.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in found}


def test_links_lead_somewhere():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "fmukit").glob("*.md"), *(ROOT / "examples").rglob("*.md")]
    assert len(pages) > 50
    wrong = []
    for page in pages:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            file, _, anchor = target.partition("#")
            if "://" in target or target.startswith("mailto:"):
                continue
            found = (page.parent / file) if file else page
            if not found.exists() or (anchor and found.suffix == ".md" and anchor not in anchors(found)):
                wrong.append(f"{page.relative_to(ROOT)}: {target}")
    assert wrong == []
