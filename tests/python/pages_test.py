"""Every command of the pages for users, one after the other: each ends with exit code 0."""
import os
import re
import subprocess

import pytest

from conftest import BUILD, ROOT


@pytest.mark.parametrize(("page", "least"), [("tutorial", 7), ("faq", 25), ("recipes", 9), ("compare_methods", 6)])
def test_the_commands_of_a_page_work(page, least, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "build").symlink_to(BUILD)
    pieces = re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / f"{page}.md").read_text(), re.S)
    assert len(pieces) >= least
    environment = {**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}"}
    for piece in pieces:
        done = subprocess.run(
            ["sh", "-e"], input=piece, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{piece}\n{done.stdout}\n{done.stderr}"
