"""The verbs of the program that are about files."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import _core
from ._error import Fact
from ._result import PathLike
from ._system import Problems, System


def check(path: PathLike) -> Problems:
    """Every problem of a system file at once, without running it."""
    return Problems(_core.check_file(Path(path), _core.Control(None)))


def inspect(path: PathLike) -> dict[str, Any]:
    """What a system file or an FMU is made of, as `entrain inspect --json`."""
    return System(path).inspect()


def methods() -> list[dict[str, Any]]:
    """The coupling methods of the engine, with order, cost and options."""
    return list(_core.methods([]))


def convert(source: PathLike, target: PathLike) -> list[Fact]:
    """Writes a system file in the format that the name of `target` determines: .toml, .ssp or .ssd."""
    return [Fact(fact) for fact in _core.convert(Path(source), Path(target))]


def new(folder: PathLike, fmus: Sequence[PathLike]) -> System:
    """Makes a folder with copies of the FMUs and a system file that couples them as far as names and units allow."""
    return System(_core.new_system(Path(folder), [Path(fmu) for fmu in fmus]))


def report(run: PathLike, file: PathLike) -> None:
    """Writes the page of a run from its folder."""
    _core.report(Path(run), Path(file))
