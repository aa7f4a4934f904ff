"""What a run left."""
from __future__ import annotations

import fnmatch
import html
import json
import math
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from . import _core
from ._error import Error, Fact, warn

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure
    import numpy as np
    import numpy.typing as npt
    import pandas
    import polars
    import xarray

    Numbers = npt.NDArray[np.float64]

PathLike = Union[str, "os.PathLike[str]"]


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


class Verdict:
    """May the result be trusted? As `verdict` in run.json; docs/report.md explains the grades.

    Attributes:
        grade: "trusted", "check", "unreliable" or "unknown"; "pending" until the run has been judged
        headline: one sentence
        output: the output that decides
        error, bound, max_error: of that output, relative to its range
        tolerance: what is tolerated
        valid_until: the grade holds up to this time, in s
        reasons: what decided comes first
        command: the call of the program that would do better; may be empty
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.grade: str = data["grade"]
        self.headline: str = data.get("headline", "")
        self.output: str = data.get("output", "")
        self.error = _number(data.get("error"))
        self.bound = _number(data.get("bound"))
        self.max_error = _number(data.get("max_error"))
        self.tolerance = _number(data.get("tolerance"))
        self.valid_until = _number(data.get("valid_until"))
        self.reasons: list[Mapping[str, Any]] = list(data.get("reasons", []))
        self.command: str = data.get("command", "")

    def __str__(self) -> str:
        return self.headline or self.grade

    def __repr__(self) -> str:
        return f"<entrain.Verdict {self.grade}: {self.headline}>"


class Signal:
    """One signal of a result.

    `t` and `values` are NumPy arrays that cannot be written to; they are the memory of the engine, not a copy of it.
    Texts and bytes are not in memory: `values` of such a signal, and all that is computed of it, is a TypeError.

    Attributes:
        name: "subsystem.variable"
        is_text: its values are texts or bytes
        unit, description: as the subsystem declares them
        error: estimated error, rms over the run relative to `range`; NaN where there is no estimate
        bound, max_error: its bound, and its largest value over the run; relative as well
        range: largest minus smallest value, in `unit`
        estimate: how the error was found: "propagated", "companion" or "unknown"
    """

    def __init__(self, results: _core.Results, index: int, name: str, output: Mapping[str, Any]) -> None:
        self._results = results
        self._index = index
        self._output = output
        self.name = name
        self.unit = results.unit(index)
        self.description = results.description(index)
        self.is_text = results.is_text(index)
        self.error = _number(output.get("error"))
        self.bound = _number(output.get("bound"))
        self.max_error = _number(output.get("max_error"))
        self.range = _number(output.get("range"))
        self.estimate: str = output.get("estimate", "unknown")

    @property
    def t(self) -> Numbers:
        """The times at which it is known, in s."""
        return self._results.times(self._index)

    @property
    def values(self) -> Numbers:
        """Its values at `t`."""
        if self.is_text:
            raise TypeError(_about_texts([self.name]))
        return self._results.values(self._index)

    @property
    def band(self) -> Numbers:
        """Estimated error at `t`, in `unit`: how it grew over the run."""
        import numpy as np

        course = self._output.get("course") or []
        if not course or not self.range > 0:
            return np.full(len(self.t), math.nan)
        t = self.t
        ends = t[0] + (np.arange(len(course)) + 1) * (t[-1] - t[0]) / len(course)
        known = [_number(part) for part in course]
        return np.interp(t, ends, known) * self.range

    def at(self, t: float) -> float:
        """The value at a time, linear between two samples."""
        import numpy as np

        return float(np.interp(t, self.t, self.values))

    @property
    def last(self) -> float:
        """The value at the end."""
        return float(self.values[-1])

    def __len__(self) -> int:
        return len(self.t)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy as np

        values = self.values
        if dtype is not None and np.dtype(dtype) != values.dtype:
            if copy is False:
                raise ValueError("another dtype needs a copy")
            return values.astype(dtype)
        return values.copy() if copy else values

    def __repr__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        size = len(self)
        if self.is_text:
            return f"<entrain.Signal {self.name}: {size} texts, not in memory>"
        ends = f", {self.values[0]:.6g} ... {self.values[-1]:.6g}{unit}" if size else ""
        return f"<entrain.Signal {self.name}: {size} values{ends}>"


def _about_texts(names: Sequence[str]) -> str:
    few = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    verb = "is a signal" if len(names) == 1 else "are signals"
    return (
        f"{few} {verb} of texts or bytes, which are not kept in memory: run with out=\"folder\" and read the files there, "
        "or look at the samples of simulate()"
    )


def _remove(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)


class Result:
    """The result of a run: its signals by name, its verdict, its summary.

    `Result("runs/plant-1")` opens what the program left in a folder, or a file of results (CSV, HDF5, MAT).

    Attributes:
        verdict: how far it can be trusted
        summary: run.json, as plain data
        termination: "completed", "interrupted" or "failed"; "running" in the folder of a run that is under way, or whose
            process was killed: the signals are those up to then
        folder: where the files of the run are
    """

    def __init__(self, path: PathLike) -> None:
        path = Path(path)
        self._results = _core.read_results(path)
        file = path / "run.json" if path.is_dir() else path.parent / "run.json"
        self.summary: dict[str, Any] = json.loads(file.read_text()) if path.is_dir() and file.is_file() else {}
        self._open(path if path.is_dir() else path.parent, has_results=True)

    @classmethod
    def _of(cls, ran: Mapping[str, Any], folder: Path | None, has_results: bool, temporary: str | None) -> Result:
        """`folder`: None = no file was written. `temporary`: a folder to be removed with the result."""
        result = cls.__new__(cls)
        result._results = ran["results"]
        result.summary = json.loads(ran["json"])
        result._open(folder, has_results)
        if temporary is not None:
            result._cleaner = weakref.finalize(result, _remove, temporary)
        return result

    def _open(self, folder: Path | None, has_results: bool) -> None:
        self.folder = folder
        self._has_results = has_results
        self._index = {name: index for index, name in enumerate(self._results.names)}
        self.verdict = Verdict(self.summary.get("verdict", {"grade": "unknown"}))
        self.termination: str = self.summary.get("termination", "completed")

    @property
    def names(self) -> list[str]:
        """Names of all signals."""
        return list(self._index)

    @property
    def units(self) -> dict[str, str]:
        """The unit of every signal."""
        return {name: self._results.unit(index) for name, index in self._index.items()}

    @property
    def warnings(self) -> list[Fact]:
        """What may degrade the result."""
        return [Fact(fact) for fact in self.summary.get("warnings", [])]

    @property
    def notes(self) -> list[Fact]:
        """How the run was done."""
        return [Fact(fact) for fact in self.summary.get("notes", [])]

    def __getitem__(self, name: str) -> Signal:
        index = self._index.get(name)
        if index is None:
            raise KeyError(f"{name}: {_core.suggestion(name, self.names) or 'nothing was recorded'}")
        return Signal(self._results, index, name, self.summary.get("outputs", {}).get(name, {}))

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def select(self, *patterns: str) -> list[Signal]:
        """Signals whose names match one of the patterns, in which * stands for any characters; all without a pattern."""
        names = [name for name in self._index if not patterns or any(fnmatch.fnmatchcase(name, p) for p in patterns)]
        if not names:
            wanted = ", ".join(patterns)
            raise KeyError(f"{wanted}: {_core.suggestion(wanted, self.names) or 'nothing was recorded'}")
        return [self[name] for name in names]

    # Other libraries.
    def _numbers(self, patterns: Sequence[str]) -> list[Signal]:
        """Texts are left out, unless one is named or there is nothing else."""
        selected = self.select(*patterns)
        numbers = [signal for signal in selected if not signal.is_text]
        texts = [signal.name for signal in selected if signal.is_text]
        asked = texts if not numbers else [name for name in texts if name in patterns]
        if asked:
            raise TypeError(_about_texts(asked))
        return numbers

    def _by_axis(self, patterns: Sequence[str]) -> dict[int, list[Signal]]:
        groups: dict[int, list[Signal]] = {}
        for signal in self._numbers(patterns):
            groups.setdefault(self._results.axis(signal._index), []).append(signal)
        return groups

    def to_pandas(self, *patterns: str) -> pandas.DataFrame:
        """A DataFrame over the time, one column per signal of numbers, units in `attrs["units"]`. Signals that are known
        at other times than others have NaN in between."""
        import pandas as pd

        parts = []
        for signals in self._by_axis(patterns).values():
            part = pd.DataFrame({signal.name: signal.values for signal in signals}, index=signals[0].t)
            # At an event a time comes twice, from the left and from the right.
            parts.append(part.set_index(part.groupby(level=0).cumcount(), append=True))
        table = parts[0] if len(parts) == 1 else pd.concat(parts, axis=1).sort_index()
        table = table.droplevel(1)
        table.index.name = "time"
        table = table[[signal.name for signal in self._numbers(patterns)]]
        table.attrs["units"] = {signal.name: signal.unit for signal in self._numbers(patterns)}
        return table

    def to_xarray(self, *patterns: str) -> xarray.Dataset:
        """A Dataset, one variable per signal of numbers with `units` and `long_name`; signals that are known at the same times
        share a dimension: `time`, then `time_1` and so on."""
        import xarray as xr

        variables = {}
        coordinates = {}
        for number, signals in enumerate(self._by_axis(patterns).values()):
            axis = "time" if number == 0 else f"time_{number}"
            coordinates[axis] = (axis, signals[0].t, {"units": "s"})
            for signal in signals:
                about = {"units": signal.unit, "long_name": signal.description}
                variables[signal.name] = (axis, signal.values, about)
        return xr.Dataset(variables, coords=coordinates)

    def to_polars(self, *patterns: str, units: bool = False) -> polars.DataFrame:
        """A polars DataFrame with the column `time`, and one per signal of numbers; null where a signal is not known.
        polars has no place for units: with `units` they are part of the names, "motor.w [rad/s]"."""
        import polars as pl

        def label(signal: Signal) -> str:
            return f"{signal.name} [{signal.unit}]" if units and signal.unit else signal.name

        table = None
        for signals in self._by_axis(patterns).values():
            part = pl.DataFrame({"time": signals[0].t, **{label(signal): signal.values for signal in signals}})
            if table is None:
                table = part
                continue
            # At an event a time comes twice, from the left and from the right.
            count = pl.int_range(pl.len()).over("time").alias("_count")
            table = (
                table.with_columns(count)
                .join(part.with_columns(count), on=["time", "_count"], how="full", coalesce=True)
                .sort("time", "_count")
                .drop("_count")
            )
        assert table is not None
        return table.select(["time", *[label(signal) for signal in self._numbers(patterns)]])

    def plot(
        self, *patterns: str, bands: bool = True, label: str = "", ax: matplotlib.axes.Axes | None = None
    ) -> matplotlib.figure.Figure:
        """Curves with the band of their estimated error, one plot per unit; `label` stands before the names, and `ax` are
        axes to draw into, for two results in one plot."""
        import matplotlib.pyplot as plt

        by_unit: dict[str, list[Signal]] = {}
        for signal in self._numbers(patterns):
            by_unit.setdefault(signal.unit, []).append(signal)
        if ax is None:
            figure, grid = plt.subplots(
                len(by_unit), 1, sharex=True, squeeze=False, figsize=(8, 1.2 + 2.2 * len(by_unit)), layout="constrained"
            )
            axes = list(grid[:, 0])
        else:
            figure, axes = ax.figure, [ax] * len(by_unit)  # type: ignore[assignment]
        for place, (unit, signals) in zip(axes, by_unit.items()):
            for signal in signals:
                self._plot_one(place, signal, bands, label)
            place.set_ylabel(unit or "-")
            place.legend(loc="best", fontsize="small")
            place.grid(alpha=0.3)
        axes[-1].set_xlabel("time in s")
        if ax is None and self.verdict.headline:
            figure.suptitle(self.verdict.headline, fontsize="medium")
        return figure

    @staticmethod
    def _plot_one(axes: matplotlib.axes.Axes, signal: Signal, bands: bool, label: str) -> None:
        name = f"{label} {signal.name}" if label else signal.name
        (line,) = axes.plot(signal.t, signal.values, label=name, linewidth=1.2)
        if not bands or not math.isfinite(signal.error):
            return
        band = signal.band
        low, high = signal.values - band, signal.values + band
        axes.fill_between(signal.t, low, high, color=line.get_color(), alpha=0.25, linewidth=0)

    # Files.
    def save(self, file: PathLike) -> None:
        """Writes the signals as the program does: .csv, .h5 or .mat, by the name of the file. Those of texts or bytes are
        not in memory and not in the file: a warning names them."""
        texts = [signal.name for signal in self.select() if signal.is_text]
        self._results.write(Path(file))
        if texts:
            warn([f"not saved in '{file}': {_about_texts(texts)}"])

    def _with_results(self) -> Path:
        if self.folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="entrain-"))
            self._cleaner = weakref.finalize(self, _remove, str(self.folder))
            (self.folder / "run.json").write_text(json.dumps(self.summary))
        if not self._has_results:
            self._results.write(self.folder / "results.csv")
            self._has_results = True
        return self.folder

    def report(self, file: PathLike) -> None:
        """Writes the page of the run, HTML in one file: docs/report.md."""
        if not self.summary:
            raise ValueError("a file of results alone has no report; open the folder of the run")
        _core.report(self._with_results(), Path(file))

    def _repr_html_(self) -> str:
        """The page of the run, in a notebook."""
        if self.summary and len(self):
            try:
                _core.require_pages()
                with tempfile.TemporaryDirectory() as folder:
                    page = Path(folder) / "report.html"
                    self.report(page)
                    text = page.read_text()
                return (
                    f'<iframe srcdoc="{html.escape(text)}" style="width:100%;height:640px;border:0" '
                    'sandbox="allow-scripts"></iframe>'
                )
            except Error:  # a build without pages
                pass
        rows = "".join(
            f"<tr><td>{html.escape(s.name)}</td><td>{s.last:.6g}</td><td>{html.escape(s.unit)}</td>"
            f"<td>{s.error:.2g}</td></tr>"
            for s in (self[name] for name in self)
            if len(s) and not s.is_text
        )
        return (
            f"<b>{html.escape(str(self.verdict))}</b><table><tr><th>signal</th><th>last value</th><th>unit</th>"
            f"<th>error of the range</th></tr>{rows}</table>"
        )

    def __repr__(self) -> str:
        about = f", {self.summary['method']}" if "method" in self.summary else ""
        return f"<entrain.Result {self.termination}{about}, {len(self)} signals, {self.verdict.grade}>"

    def __getstate__(self) -> dict[str, Any]:
        """By value, for other processes and machines. A temporary folder ends with this result: its files go along."""
        state = {"results": self._results, "summary": self.summary, "folder": self.folder, "files": None}
        if hasattr(self, "_cleaner") and self.folder is not None:
            state["files"] = {
                file.name: file.read_bytes()
                for file in self.folder.iterdir()
                if file.is_file() and file.stem != "results"
            }
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._results = state["results"]
        self.summary = state["summary"]
        folder, files = state["folder"], state["files"]
        if files is None:  # in a folder that stays, where there is one
            found = folder if folder is not None and folder.is_dir() else None
            self._open(found, has_results=found is not None)
            return
        temporary = tempfile.mkdtemp(prefix="entrain-")
        self._cleaner = weakref.finalize(self, _remove, temporary)
        place = Path(temporary) / folder.name
        place.mkdir()
        for name, content in files.items():
            (place / name).write_bytes(content)
        self._open(place, has_results=False)


class Comparison:
    """Runs beside each other: en.compare(). `data` is what the program prints with --json."""

    def __init__(self, comparison: _core.Comparison) -> None:
        self._comparison = comparison
        self.data: dict[str, Any] = json.loads(comparison.json())

    def report(self, file: PathLike) -> None:
        """Overlaid curves, and error over cost: HTML in one file."""
        self._comparison.page(Path(file))

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __repr__(self) -> str:
        return f"<entrain.Comparison of {len(self.data.get('runs', []))} runs>"


def compare(*runs: Result | PathLike, reference: Result | PathLike | None = None) -> Comparison:
    """Compares runs (results, folders, files of results) with a reference: the one named, else the first run of a
    method without coupling error, else the first."""

    def place(run: Result | PathLike) -> Path:
        return run._with_results() if isinstance(run, Result) else Path(run)

    control = _core.Control(None)
    return Comparison(
        _core.compare([place(run) for run in runs], None if reference is None else place(reference), control)
    )
