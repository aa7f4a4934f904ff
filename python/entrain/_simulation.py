"""A run that is driven from Python."""
from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from ._error import warn
from ._subsystem import Value

if TYPE_CHECKING:
    from ._result import PathLike, Result
    from ._system import System


class Simulation:
    """A coupled system between two macro steps. `System.simulate` makes it; leaving the `with` block releases it.

    Iteration yields the sample of the start, then that of each macro step. `sim["subsystem.variable"]` is the latest
    value; assigning sets an input that no output feeds, or a tunable parameter, from now on; before the run any start
    value. Inside a step the GIL is released: simulations in different threads run at the same time. One simulation is for
    one thread at a time.
    """

    def __init__(self, system: System, description: _core.Description, given: dict[str, Any]) -> None:
        self._system = system
        self._driven = _core.Driven(description, system._makers(), list(system._methods.values()), given)
        self._warned = 0
        self._at_end = False  # the loop looks at the last sample, after which nothing comes

    def __enter__(self) -> Simulation:
        self._driven.time  # refused when it is closed
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Releases all subsystems. May be called again."""
        self._driven.close()

    def __iter__(self) -> Iterator[_core.Sample]:
        driven = self._driven
        while driven.advance():
            if driven.over and driven.termination == "failed":
                break
            self._at_end = driven.over
            yield driven.sample()
            self._at_end = False
            if driven.closed or driven.over:
                break
        self._ended()

    def step(self, count: int = 1) -> _core.Sample:
        """Makes macro steps; the first of a run is preceded by its start. Returns the sample at the end of the last."""
        if self._driven.termination == "not started":
            self._driven.advance()
            self._ended()
        for _ in range(count):
            if not self._driven.advance():
                break
        self._ended()
        return self._driven.sample()

    def run(self, until: float | None = None) -> _core.Sample:
        """To the first communication time at or after `until`, in s; to the end without."""
        self._driven.run_until(float("inf") if until is None else float(until))
        self._ended()
        return self._driven.sample()

    def _ended(self) -> None:
        """Raises the failure of the run, if there is one."""
        if not self._driven.over or self._driven.closed:
            return
        if self._driven.termination == "failed":
            error, thrown = self._driven.failure()
            if error is not None:
                raise error from thrown
        if self._driven.termination == "interrupted":
            raise KeyboardInterrupt(json.loads(self._driven.json())["message"])
        warnings = self._driven.warnings()[self._warned :]
        self._warned += len(warnings)
        warn(warnings)

    def __getitem__(self, name: str) -> Any:
        return self._driven.value(name)

    def __setitem__(self, name: str, value: Value) -> None:
        if not self._at_end:
            self._driven.set(name, value)

    @property
    def time(self) -> float:
        """Simulated time in s."""
        return float(self._driven.time)

    @property
    def sample(self) -> _core.Sample:
        """The latest."""
        return self._driven.sample()

    @property
    def over(self) -> bool:
        """The stop time is reached, or the run has ended otherwise."""
        return bool(self._driven.over)

    @property
    def signals(self) -> dict[str, str]:
        """Names and units of all signals."""
        return dict(self._driven.signals())

    @property
    def summary(self) -> dict[str, Any]:
        """As run.json; what counts and measures is up to date at the end and after `run`."""
        return dict(json.loads(self._driven.json()))

    def checkpoint(self, file: PathLike | None = None) -> _core.Checkpoint | None:
        """Without a file, a place in memory to go back to by `restore`. With one, writes what `simulate(resume=file)`, or
        `entrain run --resume`, goes on from."""
        if file is None:
            return self._driven.checkpoint()
        self._driven.save(Path(file))
        return None

    def restore(self, checkpoint: _core.Checkpoint) -> None:
        """Back to a place of this simulation, since its last `reset`."""
        self._driven.restore(checkpoint)

    def reset(self) -> None:
        """Back to before the start; values that were set before the run are kept."""
        self._driven.reset()
        self._warned = 0

    def _resume(self, file: Path) -> None:
        self._driven.resume(file)
        self._ended()

    @property
    def result(self) -> Result:
        """What was recorded, once the run has ended: `simulate(record=True)`. No errors were estimated."""
        from ._result import Result

        ran = {"results": self._driven.results(), "json": self._driven.json()}
        return Result._of(ran, None, has_results=False, temporary=None)

    def __repr__(self) -> str:
        if self._driven.closed:
            return "<entrain.Simulation, closed>"
        return f"<entrain.Simulation {self._driven.termination}, t={self.time:g} s>"
