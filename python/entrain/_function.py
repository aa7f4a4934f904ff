"""A system as a function of numbers."""
from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._error import Error

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ._result import Signal
    from ._system import System


def _integral(signal: Signal) -> float:
    import numpy as np

    t, y = signal.t, signal.values
    return float(np.sum((t[1:] - t[:-1]) * (y[1:] + y[:-1])) / 2)


def _mean(signal: Signal) -> float:
    length = float(signal.t[-1] - signal.t[0])
    return _integral(signal) / length if length > 0 else signal.last


def _rms(signal: Signal) -> float:
    import numpy as np

    t, y = signal.t, signal.values
    length = float(t[-1] - t[0])
    if not length > 0:
        return abs(signal.last)
    # The square of a straight line between two samples, integrated exactly.
    parts = (t[1:] - t[:-1]) * (y[1:] ** 2 + y[1:] * y[:-1] + y[:-1] ** 2) / 3
    return math.sqrt(float(np.sum(parts)) / length)


FEATURES: dict[str, Callable[[Any], float]] = {
    "last": lambda signal: signal.last,
    "first": lambda signal: float(signal.values[0]),
    "max": lambda signal: float(signal.values.max()),
    "min": lambda signal: float(signal.values.min()),
    "range": lambda signal: float(signal.values.max() - signal.values.min()),
    "mean": _mean,
    "rms": _rms,
    "integral": _integral,
}


def split_feature(name: str) -> tuple[str, str]:
    """ "motor.w.max" is the feature max of motor.w; without a feature it is the last value."""
    signal, _, feature = name.rpartition(".")
    return (signal, feature) if feature in FEATURES and "." in signal else (name, "last")


class Function:
    """`f(x)`: runs the system with start values and returns numbers of its course. The subsystems are made once and reset
    for every call; threads take turns. It pickles, as systems do."""

    def __init__(
        self, system: System, inputs: Sequence[str], outputs: Sequence[str], on_failure: str, keys: Mapping[str, Any]
    ) -> None:
        for given, what in ((inputs, "inputs"), (outputs, "outputs")):
            if isinstance(given, str):
                raise TypeError(f"{what} is a list of names")
        if on_failure not in ("raise", "nan"):
            raise ValueError("on_failure is 'raise' or 'nan'")
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self._system = system.copy()
        self._on_failure = on_failure
        self._keys = dict(keys)
        self._features = [split_feature(name) for name in outputs]
        self._simulation: Any = None
        self._lock = threading.Lock()

    def __call__(self, x: Sequence[float] | Mapping[str, float] | float) -> Any:
        """An array of one number per output; the number itself where there is one."""
        import numpy as np

        values = self._values(x)
        with self._lock:
            try:
                found = np.array(self._run(values))
            except Error:
                self._simulation = None  # what failed is made anew
                if self._on_failure == "raise":
                    raise
                found = np.full(len(self.outputs), math.nan)
        return found if len(found) != 1 else float(found[0])

    def _values(self, x: Any) -> list[float]:
        if isinstance(x, Mapping):
            unknown = set(x) - set(self.inputs)
            if unknown or len(x) != len(self.inputs):
                raise ValueError(f"x has one number for each of {', '.join(self.inputs)}")
            return [float(x[name]) for name in self.inputs]
        values = [float(x)] if not hasattr(x, "__len__") else [float(value) for value in x]
        if len(values) != len(self.inputs):
            raise ValueError(f"x has {len(values)} numbers for {len(self.inputs)} inputs")
        return values

    def _simulate(self, values: Mapping[str, float]) -> Any:
        record = sorted({signal for signal, _ in self._features})
        keys = {**self._keys, "values": {**self._keys.get("values", {}), **values}}
        return self._system.simulate(record=record, **keys)

    def _run(self, values: Sequence[float]) -> list[float]:
        named = dict(zip(self.inputs, values))
        if self._simulation is None:
            self._simulation = self._simulate(named)
        else:
            self._simulation.reset()
            try:
                for name, value in named.items():
                    self._simulation[name] = value
            except Error:  # a state, which only a new subsystem starts with
                self._simulation.close()
                self._simulation = self._simulate(named)
        self._simulation.run()
        result = self._simulation.result
        return [FEATURES[feature](result[signal]) for signal, feature in self._features]

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state.update(_simulation=None, _lock=None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<entrain.Function ({', '.join(self.inputs)}) -> ({', '.join(self.outputs)})>"
