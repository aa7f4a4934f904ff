"""Many runs of one system: what varies, and what came out."""
from __future__ import annotations

import json
import math
import numbers
import os
import shutil
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from . import _core
from ._result import PathLike

if TYPE_CHECKING:
    import matplotlib.figure
    import numpy.typing as npt
    import pandas


class Distribution:
    """How a value varies: made by `uniform`, `normal`, `lognormal`, `triangular` and `points`."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"<entrain.Distribution {self.text}>"


Values = Union[Distribution, str, Sequence[Any]]


def _number(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not math.isfinite(value):
        raise TypeError(f"a finite number is needed, not {value!r}")
    return repr(float(value))


def _distribution(name: str, *values: Any) -> Distribution:
    return Distribution(f"{name}({', '.join(map(_number, values))})")


def uniform(low: float, high: float) -> Distribution:
    """Every value between `low` and `high` alike."""
    return _distribution("uniform", low, high)


def normal(mean: float, standard_deviation: float) -> Distribution:
    """The normal distribution."""
    return _distribution("normal", mean, standard_deviation)


def lognormal(mean: float, standard_deviation: float) -> Distribution:
    """The logarithm is normal, with this mean and standard deviation."""
    return _distribution("lognormal", mean, standard_deviation)


def triangular(low: float, mode: float, high: float) -> Distribution:
    """From `low` to `high`, most often `mode`."""
    return _distribution("triangular", low, mode, high)


def points(low: float, high: float, n: int) -> Distribution:
    """`n` values at equal distances, both ends included."""
    return Distribution(f"{_number(low)}..{_number(high)}/{int(n)}")


def distribution_text(name: str, values: Values) -> str:
    """As it is written in [sweep.vary]: docs/sweeps.md."""
    if isinstance(values, Distribution):
        return values.text
    if isinstance(values, str):
        return values
    if isinstance(values, (bool, numbers.Real)) or isinstance(values, Mapping):
        raise TypeError(f"{name} varies over a list or a distribution such as en.uniform(0.4, 0.6), not {values!r}")
    words = []
    for value in values:
        if hasattr(value, "item"):  # of NumPy
            value = value.item()
        if isinstance(value, bool):
            words.append("true" if value else "false")
        elif isinstance(value, str):
            words.append(value)
        else:
            words.append(_number(value))
    return ", ".join(words)


def shard_of(text: str | tuple[int, int] | None) -> tuple[int, int]:
    """(first from 0, of how many): "2/8" is the second of eight."""
    if text is None:
        return 0, 1
    which, _, count = text.partition("/") if isinstance(text, str) else (text[0], "/", text[1])
    if not 1 <= int(which) <= int(count):
        raise ValueError(f"a shard is written 'I/N', such as '2/8', not {text!r}")
    return int(which) - 1, int(count)


class Study:
    """What a sweep found: a row for each case.

    `study["prey.p.max"]` is a column as a NumPy array; `to_pandas()` is the whole table.

    Attributes:
        inputs: names of what varied
        quantities: names of what was measured
        folder: where cases.csv, cases.h5 and sweep.json lie; gone with this object unless `out` was given
        data: sweep.json: sampling, hashes, `uncertainty` and `sobol` per quantity
    """

    def __init__(self, result: _core.SweepResult, temporary: str | None = None) -> None:
        self._result = result
        self._table: dict[str, list[Any]] = result.table()
        self.inputs: list[str] = result.input_names()
        self.quantities: list[str] = list(result.quantities)
        self.folder = Path(result.folder)
        self.data: dict[str, Any] = json.loads(result.json())
        if temporary is not None:
            self._remove = weakref.finalize(self, shutil.rmtree, temporary, True)

    def __len__(self) -> int:
        return len(self._table["case"])

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        import numpy as np

        if name not in self._table:
            raise KeyError(f"{name}: {_core.suggestion(name, list(self._table))}")
        return np.array(self._table[name])

    def __contains__(self, name: object) -> bool:
        return name in self._table

    @property
    def columns(self) -> list[str]:
        """Inputs, quantities, `error of QUANTITY`, termination, grade, seconds, message."""
        return [name for name in self._table if name != "case"]

    @property
    def failed(self) -> list[tuple[int, str]]:
        """(number, message) of the cases that did not complete."""
        rows = zip(self._table["case"], self._table["termination"], self._table["message"])
        return [(number, message) for number, termination, message in rows if termination != "completed"]

    @property
    def interrupted(self) -> bool:
        """Whether cases are missing."""
        return bool(self._result.interrupted)

    @property
    def uncertainty(self) -> Any:
        """Standard uncertainties of every quantity: value, numerical, input, together (docs/sweeps.md)."""
        return self.data.get("uncertainty")

    @property
    def sobol(self) -> Any:
        """Sobol indices of every quantity and input, of a sweep with sampling="sobol"."""
        return self.data.get("sobol")

    def to_pandas(self) -> pandas.DataFrame:
        """The table, indexed by the number of the case."""
        import pandas

        frame = pandas.DataFrame({name: self._table[name] for name in self.columns}, index=self._table["case"])
        frame.index.name = "case"
        frame.attrs["folder"] = os.fspath(self.folder)
        return frame

    def bands(self, signal: str) -> dict[str, Any]:
        """Percentiles of a signal over the cases: `t`, `p5`, `p25`, `p50`, `p75`, `p95` as arrays, and its `unit`."""
        import numpy as np

        bands = self._result.bands()
        if signal not in bands:
            raise KeyError(f"{signal}: {_core.suggestion(signal, list(bands))}")
        found = {name: value if name == "unit" else np.array(value) for name, value in bands[signal].items()}
        return {"t": np.array(self._result.times), **found}

    def plot(self, signal: str) -> matplotlib.figure.Figure:
        """The median of a signal with the bands of half and of nine tenths of the cases."""
        import matplotlib.pyplot as plt

        band = self.bands(signal)
        figure, axes = plt.subplots()
        axes.fill_between(band["t"], band["p5"], band["p95"], color="C0", alpha=0.15, label="5 % to 95 %")
        axes.fill_between(band["t"], band["p25"], band["p75"], color="C0", alpha=0.3, label="25 % to 75 %")
        axes.plot(band["t"], band["p50"], color="C0", label="median")
        axes.set_xlabel("time in s")
        axes.set_ylabel(f"{signal} in {band['unit']}" if band["unit"] else signal)
        axes.legend()
        return figure

    def report(self, file: PathLike) -> None:
        """The page: all cases as points and lines, bands, uncertainty, failed cases."""
        self._result.page(Path(file))

    def __repr__(self) -> str:
        failed = len(self.failed)
        return f"<entrain.Study of {self.data.get('system', '')}: {len(self)} of {self._result.all} cases, {failed} failed>"


def merge_studies(shards: Sequence[PathLike], folder: PathLike, *, reference: PathLike | None = None) -> Study:
    """Puts the shards of one sweep together, in `folder`."""
    paths = [Path(shard) for shard in shards]
    return Study(_core.merge_sweeps(paths, Path(folder), None if reference is None else Path(reference)))
