"""The programs that come with the package."""
from __future__ import annotations

import os
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "bin"


def main() -> None:
    """The command `entrain`."""
    program = FOLDER / "entrain"
    os.execv(program, ["entrain", *sys.argv[1:]])
