"""The verbs of the program that are about files."""
from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import _core
from ._answers import Problems
from ._error import Fact
from ._result import PathLike
from ._system import System


def check(path: PathLike, *, sandbox: bool = False) -> Problems:
    """Every problem of a system file at once, without running it."""
    return Problems(_core.check_file(Path(path), sandbox, _core.Control(None)))


def inspect(path: PathLike, *, sandbox: bool = False) -> dict[str, Any]:
    """What a system file or an FMU is made of, as `entrain inspect --json`."""
    return System(path, sandbox=sandbox).inspect()


def methods() -> list[dict[str, Any]]:
    """The coupling methods of the engine, with order, cost and options."""
    return list(_core.methods([]))


def convert(source: PathLike, target: PathLike, *, sandbox: bool = False) -> list[Fact]:
    """Writes a system file in the format that the name of `target` determines: .toml, .ssp or .ssd."""
    return [Fact(fact) for fact in _core.convert(Path(source), Path(target), sandbox)]


def new(folder: PathLike, fmus: Sequence[PathLike], *, sandbox: bool = False) -> System:
    """Makes a folder with copies of the FMUs and a system file that couples them as far as names and units allow."""
    return System(_core.new_system(Path(folder), [Path(fmu) for fmu in fmus], sandbox))


def reproduce(
    *ids: str, examples: PathLike = "examples", fmus: PathLike | None = None, report: PathLike | None = None
) -> dict[str, Any]:
    """Repeats tables of the papers and compares, as `entrain reproduce --json`; without ids, the list of what there is.

    Args:
        ids: such as "missiles.table6"; "all" for everything
        examples: the folder of the examples that come with the program
        fmus: a folder with the FMUs of the models (build/fmus/2), to be used in place of the models
        report: a page with the figures of the papers and ours over them
    """
    entries = dict(_core.reproduce_entries())
    if not ids:
        return {"entries": entries}
    unknown = [name for name in ids if name not in entries and name != "all"]
    if unknown:
        raise KeyError(f"{unknown[0]}: {_core.suggestion(unknown[0], list(entries))}")
    wanted = list(entries) if "all" in ids else list(ids)
    page = None if report is None else Path(report)
    answer = _core.reproduce(wanted, Path(examples), None if fmus is None else Path(fmus), page, _core.Control(None))
    return dict(json.loads(answer))


def schema() -> dict[str, Any]:
    """The JSON schema of system files: every key with its type, limits and meaning."""
    return dict(json.loads(_core.system_schema()))


def report(run: PathLike, file: PathLike) -> None:
    """Writes the page of a run from its folder."""
    _core.report(Path(run), Path(file))
