"""Runs that go on, in this process or another one."""
from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from . import _core
from ._error import Error
from ._result import PathLike
from ._subsystem import Value


class RunControl:
    """A run of the same user that goes on, by the socket in its folder: `entrain control`, docs/real_time.md.

        control = en.control("runs/bench-1")
        control.pause()
        control.set("left.k", 2.0)
        control.resume()

    What is returned has `state` ("running" or "paused"), `time`, `stop` and `macro_steps`. A run that is only watched,
    paused and stepped has the same results to the last bit. One connection is for one thread at a time.
    """

    def __init__(self, run: PathLike) -> None:
        self._connection = _core.Connection(Path(run))

    def status(self) -> dict[str, Any]:
        """Where the run stands."""
        return dict(self._connection.status())

    def pause(self) -> dict[str, Any]:
        """Returns when the run waits between two macro steps."""
        return dict(self._connection.pause())

    def resume(self) -> dict[str, Any]:
        """Lets a paused run go on."""
        return dict(self._connection.resume())

    def step(self, count: int = 1) -> dict[str, Any]:
        """Of a paused run: returns when the macro steps are made."""
        if count < 1:
            raise ValueError("count must be 1 or more")
        return dict(self._connection.step(count))

    def set(self, name: str, value: Value) -> dict[str, Any]:
        """An input that no output feeds, or a tunable parameter, from now on."""
        return dict(self._connection.set(name, value))

    def stop(self) -> None:
        """Ends the run as interrupted; what is recorded is kept."""
        self._connection.stop()

    def watch(self, *signals: str, every: float = 0.1) -> Iterator[tuple[float, dict[str, float]]]:
        """Time and values of these signals as the run goes on, at most one sample in `every` s, until it ends."""
        if not every > 0:
            raise ValueError("every must be greater than 0")
        while True:
            begin = time.monotonic()
            try:
                sample = self._connection.sample(list(signals), every)
            except Error as error:
                if error.code == "control-not-reached":  # it ended between two samples
                    return
                raise
            if sample is None:
                return
            yield sample[0], dict(zip(signals, sample[1]))
            time.sleep(max(0.0, begin + every - time.monotonic()))


def control(run: PathLike) -> RunControl:
    """Connects to a run that goes on, to pause, step, change, watch or stop it."""
    return RunControl(run)
