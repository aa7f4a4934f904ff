"""Coupling methods written in Python."""
from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    from ._core import CoupledSystem


class Method:
    """A coupling method: decides the inputs of every subsystem in every macro step.

    Derive from it, set `name` and `order`, and implement `advance`. The class, not an object of it, is given to a
    system: `s.run(method=MyMethod)`, or `s.add_method(MyMethod)` and then `s.run(method="my-method")`.

    `options` are names of attributes (bool, int or float) that can be set like the options of any method:
    `s.run(method=MyMethod, options={"damping": 0.3})`.

    Everything that is remembered between two macro steps is an attribute of the object, so that a run can go back to a
    checkpoint; what is no attribute, or cannot be pickled, needs `memory` and `restore`.
    """

    name: str = ""
    summary: str = "a method written in Python"
    family: str = "explicit"  # or "implicit", "asynchronous"
    order: int = 1  # of the error in the macro step
    calls_per_step: float = 1.0  # of each subsystem in a macro step
    needs_rollback: bool = False  # steps are repeated (CoupledSystem.save)
    needs_evaluate: bool = False  # outputs are asked for again without a step (CoupledSystem.refresh_signals)
    options: Sequence[str] = ()

    start_time: float = 0.0
    stop_time: float = 0.0
    step_size: float = 0.0
    steps: int = 0  # macro steps that `next_time` has been asked for

    def start(self, system: CoupledSystem) -> None:
        """Called once per run, when all signals are consistent at `start_time`."""

    def advance(self, system: CoupledSystem) -> Union[float, tuple[float, int], tuple[float, int, int]]:
        """One macro step. Returns the time reached, or (time, iterations), or (time, iterations, rejected steps)."""
        raise NotImplementedError(f"{type(self).__name__} has no advance(system)")

    def inputs_changed(self, system: CoupledSystem) -> None:
        """Between two macro steps: inputs that no output feeds have other values now, or an event passed."""

    def memory(self) -> Any:
        """Everything that is remembered between macro steps."""
        return self.__dict__

    def restore(self, memory: Any) -> None:
        """Back to what `memory` returned."""
        self.__dict__.clear()
        self.__dict__.update(memory)

    def next_interval(self) -> tuple[float, float]:
        """Start and end of the next macro step of a method with a fixed step: multiples of `step_size`, never a sum of
        steps, and the stop time exactly. Counts `steps`."""
        begin = self.start_time + self.steps * self.step_size
        self.steps += 1
        end = self.start_time + self.steps * self.step_size
        return begin, self.stop_time if end > self.stop_time - 1e-9 * self.step_size else end

    def _start(self, system: CoupledSystem, start: float, stop: float, step: float) -> None:
        self.start_time, self.stop_time, self.step_size, self.steps = start, stop, step, 0
        self.start(system)

    def _memory(self) -> bytes:
        return pickle.dumps(self.memory())

    def _restore(self, data: bytes) -> None:
        self.restore(pickle.loads(data))


def check_method(given: Any) -> type[Method]:
    """The class of a method, or an error that says what is wrong."""
    if not isinstance(given, type) or not issubclass(given, Method):
        raise TypeError(f"a method is a class derived from entrain.Method, not {given!r}")
    if not given.name:
        raise TypeError(f"{given.__name__} has no name")
    return given
