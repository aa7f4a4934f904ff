"""The programs that come with the package."""
from __future__ import annotations

import os
import sys
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

    from ._result import PathLike

FOLDER = Path(__file__).resolve().parent / "bin"


def main() -> None:
    """The command `entrain`."""
    program = FOLDER / "entrain"
    os.execv(program, ["entrain", *sys.argv[1:]])


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


class Studio:
    """A studio that was started: `address` is its page. It ends with `close`, with a `with` block, or with Python."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.address = address
        self._closer = weakref.finalize(self, _end, process)

    def close(self) -> None:
        """Ends it; what runs goes on. May be called again."""
        self._closer()

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<entrain.Studio at {self.address}>" if self._closer.alive else "<entrain.Studio, closed>"


def studio(
    place: PathLike = ".", *, port: int = 0, listen: str = "127.0.0.1", browser: bool = True, sandbox: bool = False
) -> Studio:
    """Couple, run and judge a system in the browser (`entrain studio`, docs/studio.md).

    Args:
        place: a system file, or a folder, which may be empty
        port, listen: where it listens; any free port of this machine without
        browser: open one where there is a desktop; else `address` is for you to open
        sandbox: each FMU in a sandbox
    """
    import subprocess

    words = [str(FOLDER / "entrain"), "studio", os.fspath(place), "--port", str(port), "--listen", listen]
    words += ["--no-browser"] * (not browser) + ["--sandbox"] * sandbox
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for what Python does
    )
    assert process.stdout is not None and process.stderr is not None
    address = process.stdout.readline().strip()
    if not address:
        message = process.stderr.read().strip()
        process.wait()
        process.stdout.close()
        process.stderr.close()
        raise RuntimeError(message or "the studio could not be started")
    process.stderr.close()
    return Studio(process, address)
