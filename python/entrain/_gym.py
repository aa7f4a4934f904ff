"""A system as an environment of reinforcement learning."""
from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import numpy.typing as npt

from . import _core
from ._error import Error

if TYPE_CHECKING:
    from ._simulation import Simulation
    from ._system import System

Observation = npt.NDArray[np.float64]


class Environment(gymnasium.Env[Observation, Any]):
    """`System.gym` makes it. An action is held over one step of the environment. `reset(options={"motor.R": 0.6})` starts
    with other values. The episode is truncated at the stop time of the system. `sim` is the simulation behind it."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        system: System,
        actions: Sequence[str],
        observations: Sequence[str],
        reward: Callable[[Any], float],
        step: float,
        terminated: Callable[[Any], bool] | None,
        bounds: Mapping[str, tuple[float, float]],
        keys: Mapping[str, Any],
    ) -> None:
        for given, what in ((actions, "actions"), (observations, "observations")):
            if isinstance(given, str):
                raise TypeError(f"{what} is a list of names")
        if not step > 0:
            raise ValueError("step must be greater than 0")
        self._arguments: tuple[Any, ...] = (system.copy(), actions, observations, reward, step, terminated, bounds, keys)
        self._step = float(step)
        self._reward = reward
        self._terminated = terminated
        self.actions = list(actions)
        self.sim = self._simulate({})
        self._start = 0.0
        self._started = False
        self._changed = False  # by the options of a reset
        self._origin: _core.Checkpoint | None = None
        self._steps = 0
        names = list(self.sim.signals)
        self.observations = [n for n in names if any(fnmatch.fnmatchcase(n, pattern) for pattern in observations)]
        if not self.observations:
            self.sim.close()
            wanted = ", ".join(observations)
            raise KeyError(f"{wanted}: {_core.suggestion(wanted, names)}")
        self.action_space = self._space(self.actions, bounds)
        self.observation_space = self._space(self.observations, bounds)

    def _simulate(self, values: Mapping[str, Any]) -> Simulation:
        system: System = self._arguments[0]
        _, actions, observations, *_, keys = self._arguments
        written = system._description.open or []
        keys = {**keys, "open": [*written, *actions], "values": {**keys.get("values", {}), **values}}
        try:
            return system.simulate(signals=list(observations), **keys)
        except Error as error:
            missing = [p.subjects[0] for p in error.problems if p.code == "input-not-connected"]
            if not missing or not set(missing) <= set(actions):
                raise
        for name in missing:  # what is set in every step needs no start value
            system[name] = 0.0
        return system.simulate(signals=list(observations), **keys)

    @staticmethod
    def _space(names: Sequence[str], bounds: Mapping[str, tuple[float, float]]) -> Any:
        low = np.array([bounds.get(name, (-np.inf, np.inf))[0] for name in names])
        high = np.array([bounds.get(name, (-np.inf, np.inf))[1] for name in names])
        return gymnasium.spaces.Box(low, high, dtype=np.float64)

    def _observe(self, sample: Any) -> Observation:
        return np.array([sample[name] for name in self.observations], dtype=np.float64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Back to the start."""
        super().reset(seed=seed)
        self._steps = 0
        if options or self._changed:  # other start values need other subsystems
            self.sim.close()
            self.sim = self._simulate(options or {})
            self._started = False
        self._changed = bool(options)
        if self._started and self._origin is not None:
            self.sim.restore(self._origin)
        else:
            if self._started:
                self.sim.reset()
            self._begin()
        sample = self.sim.sample
        return self._observe(sample), {"t": sample.t}

    def _begin(self) -> None:
        self.sim._driven.advance()
        self.sim._ended()
        self._started = True
        self._start = self.sim.time
        try:
            self._origin = self.sim.checkpoint()
        except Error:  # a subsystem has no rollback: all are reset instead
            self._origin = None

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Sets the actions and simulates one step of the environment."""
        if not self._started:
            raise ValueError("call reset first")
        values = np.atleast_1d(np.asarray(action, dtype=np.float64))
        if values.shape != (len(self.actions),):
            raise ValueError(f"an action has {len(self.actions)} numbers, not the shape {values.shape}")
        for name, value in zip(self.actions, values):
            self.sim[name] = float(value)
        self._steps += 1
        sample = self.sim.run(self._start + self._steps * self._step)
        ended = bool(self._terminated(sample)) if self._terminated is not None else False
        return self._observe(sample), float(self._reward(sample)), ended, self.sim.over and not ended, {"t": sample.t}

    def close(self) -> None:
        """Releases the subsystems."""
        self._origin = None
        self.sim.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return Environment, self._arguments
