"""Subsystems written in Python."""
from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Union

Value = Union[float, int, bool, str, bytes]
Ports = Union[Sequence[str], Mapping[str, Any]]


class Subsystem:
    """A base class for subsystems of your own; a class of any kind with these names will do.

    `inputs` and `outputs` are lists of names, or dicts of start values: `{"w": 0.0}`, or
    `{"w": {"start": 0.0, "unit": "rad/s", "description": "speed"}}`. A start value that is a bool, an int or a str makes
    the port one of that type. Outputs have their start values until the first step, or what `evaluate` returns.

    `parameters` is a dict of attributes that can be set from outside (`System.add`, `s["ctrl.kp"] = 2`,
    `sim["ctrl.kp"] = 2`), with their defaults.

    `step(t, h, u)` goes from `t` to `t + h` with the inputs `u`, a dict by name, held over the step, and returns the
    outputs at `t + h`: a dict by name, a sequence in the order of `outputs`, or the number where there is one.

    Optional:
        evaluate(t, u): outputs for these inputs without a step, and without a change of the subsystem. Every output is
            then taken to depend directly on every input.
        initialize(start, stop): called once before the first step.
        save(), restore(state): everything that a step changes, as one value. Methods that repeat steps and checkpoints
            need them; for checkpoint files the value is pickled.
        step_size: the only step that it makes, in s.

    The object that is given to a system is a template: every run works on a copy of its own (`copy.deepcopy`), so that
    runs repeat. What cannot be copied is given as a function that makes it.
    """

    inputs: Ports = ()
    outputs: Ports = ()
    parameters: Mapping[str, Value] = {}
    step_size: float | None = None

    def step(self, t: float, h: float, u: dict[str, Any]) -> Any:
        """The outputs at t + h."""
        raise NotImplementedError(f"{type(self).__name__} has no step(t, h, u)")


class Port(NamedTuple):
    """An input, an output or a parameter, as the engine wants it."""

    name: str
    start: Value
    unit: str
    description: str


def _ports(named: Any, what: str) -> list[Port]:
    if isinstance(named, str) or not isinstance(named, (Mapping, Sequence)):
        raise TypeError(f"{what} is a list of names or a dict of start values, not {named!r}")
    ports = []
    for name in named:
        if not isinstance(name, str) or not name or "." in name:
            raise TypeError(f"{what}: a name is a text without dots, not {name!r}")
        given = named[name] if isinstance(named, Mapping) else 0.0
        if not isinstance(given, Mapping):
            given = {"start": given}
        unknown = set(given) - {"start", "unit", "description"}
        if unknown:
            raise TypeError(f"{what}: '{name}' has no '{unknown.pop()}'; known: start, unit, description")
        start = given.get("start", 0.0)
        if not isinstance(start, (bool, int, float, str, bytes)):
            raise TypeError(f"{what}: the start value of '{name}' is {start!r}")
        ports.append(Port(name, start, given.get("unit", ""), given.get("description", "")))
    names = [port.name for port in ports]
    if len(set(names)) != len(names):
        raise TypeError(f"{what} has a name twice")
    return ports


def _maker(given: Any) -> Callable[[], Any]:
    """What makes the object of a run: a class or a function is called, an object copied."""
    if not hasattr(given, "step") or isinstance(given, type):
        if not callable(given):
            raise TypeError(f"{given!r} is no subsystem: it has no step(t, h, u)")
        return given  # type: ignore[no-any-return]

    def copied() -> Any:
        try:
            return copy.deepcopy(given)
        except Exception as error:
            raise TypeError(
                f"{type(given).__name__} cannot be copied ({error}); give a function that makes it instead"
            ) from error

    return copied


class Adapter:
    """Between the engine and the object of a user, for one subsystem of one run."""

    def __init__(self, given: Any) -> None:
        self._make = _maker(given)
        self._set: dict[str, Value] = {}
        self.object = self._make()
        if not callable(getattr(self.object, "step", None)):
            raise TypeError(f"{type(self.object).__name__} is no subsystem: it has no step(t, h, u)")
        self.inputs = _ports(getattr(self.object, "inputs", ()), "inputs")
        self.outputs = _ports(getattr(self.object, "outputs", ()), "outputs")
        self.parameters = _ports(getattr(self.object, "parameters", {}), "parameters")
        for parameter in self.parameters:  # an attribute of the object is a value that it was made with
            if isinstance(getattr(self.object, parameter.name, None), type(parameter.start)):
                self._set[parameter.name] = getattr(self.object, parameter.name)
        for port in (*self.inputs, *self.outputs):
            if port.name in {parameter.name for parameter in self.parameters}:
                raise TypeError(f"'{port.name}' is a port and a parameter")
        self.parameters = [
            parameter._replace(start=self._set.get(parameter.name, parameter.start)) for parameter in self.parameters
        ]
        self.can_evaluate = callable(getattr(self.object, "evaluate", None))
        self.can_save = callable(getattr(self.object, "save", None)) and callable(getattr(self.object, "restore", None))
        self.step_size = getattr(self.object, "step_size", None)
        self._give_parameters()

    def _give_parameters(self) -> None:
        for parameter in self.parameters:
            setattr(self.object, parameter.name, self._set.get(parameter.name, parameter.start))

    def set_parameter(self, name: str, value: Value) -> None:
        self._set[name] = value
        setattr(self.object, name, value)

    def initialize(self, start: float, stop: float) -> None:
        if callable(getattr(self.object, "initialize", None)):
            self.object.initialize(start, stop)

    @property
    def step(self) -> Callable[[float, float, dict[str, Any]], Any]:
        return self.object.step  # type: ignore[no-any-return]

    def evaluate(self, t: float, u: dict[str, Any]) -> Any:
        return self.object.evaluate(t, u)

    def save(self) -> Any:
        # A copy, in both directions: what is kept must not change with the object.
        parameters = {parameter.name: getattr(self.object, parameter.name) for parameter in self.parameters}
        return copy.deepcopy((self.object.save(), parameters))

    def restore(self, state: Any) -> None:
        own, parameters = copy.deepcopy(state)
        self.object.restore(own)
        for name, value in parameters.items():
            setattr(self.object, name, value)

    def reset(self) -> None:
        self.object = self._make()
        self._give_parameters()

    @staticmethod
    def dumps(state: Any) -> bytes:
        return pickle.dumps(state)

    @staticmethod
    def loads(data: bytes) -> Any:
        return pickle.loads(data)
