"""A coupled system."""
from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union

from . import _core
from ._answers import Advice, Learning, Problems, Verification
from ._error import Error, Fact, warn
from ._method import Method, check_method
from ._progress import bar
from ._result import PathLike, Result
from ._simulation import Simulation
from ._subsystem import Adapter, Value

if TYPE_CHECKING:
    from ._function import Function
    from ._gym import Environment
    from ._study import Study, Values

MethodLike = Union[str, "type[Method]"]
_ALL_KEYS = (
    "start stop step method tolerance tolerances options values scenario record interval open exclude isolate sandbox "
    "real_time overrun stand_in"
).split()


def _toml(value: Any) -> str:
    """A value as the text of a system file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return repr(value) if any(c in repr(value) for c in ".e") else repr(value) + ".0"
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=True)
    if isinstance(value, os.PathLike):
        return json.dumps(os.fspath(value))
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(of)}" for key, of in value.items()) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(_toml(of) for of in value) + "]"
    if hasattr(value, "item"):  # of NumPy
        return _toml(value.item())
    raise TypeError(f"{value!r} is no number, text, list or dict")


def _state_file(given: PathLike | None) -> str:
    if given is None:
        return ""
    path = Path(given)
    return str(path / "learning.state" if path.is_dir() else path)


class System:
    """A coupled system: subsystems, connections, and how to run them.

    `System("plant.ssp")` reads a system file (.toml, .ssp, .ssd), a folder with one, or an FMU. `System()` is empty:

        s = en.System()
        s.add("motor", "motor.fmu", R=0.5)
        s["ctrl"] = Controller()
        s.connect("motor.w", "ctrl.w")

    The keys of `[run]` in a system file are attributes: `start`, `stop`, `step`, `method`, `tolerance`. What is passed to
    `run` and the other verbs is for that call alone. A call works on the system as it is when it begins: a change while
    it runs is for the next one.

    FMUs run in processes of their own unless `isolate` says otherwise (docs/workers.md), so that a crash of one is an
    `Error` and the interpreter lives. `sandbox=True` puts each into a sandbox before any of its code runs.
    """

    def __init__(self, path: PathLike | None = None, *, name: str | None = None, sandbox: bool = False) -> None:
        self._own: dict[str, Any] = {}
        self._methods: dict[str, type[Method]] = {}
        if path is None:
            self._description = _core.Description()
            self._description.name = name or "system"
            return
        self._description = _core.load(Path(path), sandbox, _core.Control(None))
        if name is not None:
            self._description.name = name

    # What it is made of.
    def add(
        self, name: str, source: PathLike, *, options: Mapping[str, Any] | None = None, **start: Value
    ) -> System:
        """Adds a subsystem, or puts it in the place of the one with this name.

        Args:
            source: the file of an FMU or of a table over time (.csv), or the name of a built-in model
            options: other keys of `[subsystems.NAME]` (docs/system_file.md): step, interface, rollback, timeout, ...
            start: parameters, states and inputs by name; names that are no Python names go into
                `options={"start": {...}}`
        """
        text = os.fspath(source)
        kind = {".fmu": "fmu", ".csv": "csv"}.get(Path(text).suffix.lower(), "model")
        keys: dict[str, Any] = {kind: text if kind == "model" else os.path.abspath(text)}
        keys.update(options or {})
        values = {**keys.pop("start", {}), **start}
        if values:
            keys["start"] = values
        lines = [f"{json.dumps(key)} = {_toml(value)}" for key, value in keys.items()]
        written = f"[subsystems.{json.dumps(name)}]\n" + "\n".join(lines) + "\n"
        self._description.put_all_of(_core.parse(written, Path(f"System.add({name!r})")))
        self._own.pop(name, None)
        return self

    def __setitem__(self, name: str, value: Any) -> None:
        """A subsystem of your own, `s["ctrl"] = Controller()`, or a start value, `s["motor.R"] = 0.5`."""
        if not isinstance(name, str):
            raise TypeError(f"a name is a text, not {name!r}")
        if "." in name:
            self._description.set_start(name, value)
        elif isinstance(value, (str, os.PathLike)):
            self.add(name, value)
        else:
            Adapter(value)  # what is wrong with it is reported here, not in the run
            self._description.put_own(name)
            self._own[name] = value

    def __getitem__(self, name: str) -> Any:
        """The subsystem of your own that was given, else a dict: its source, and the start values that are written."""
        if name in self._own:
            return self._own[name]
        names = []
        for subsystem in self._description.subsystems():
            if subsystem["name"] == name:
                return subsystem
            names.append(subsystem["name"])
        raise KeyError(f"{name}: {_core.suggestion(name, names) or 'the system is empty'}")

    def __delitem__(self, name: str) -> None:
        self[name]
        self._description.remove(name)
        self._own.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self.subsystems

    def __iter__(self) -> Iterator[str]:
        return iter(self.subsystems)

    def __len__(self) -> int:
        return len(self.subsystems)

    @property
    def subsystems(self) -> list[str]:
        """Names of the subsystems."""
        return [subsystem["name"] for subsystem in self._description.subsystems()]

    @property
    def connections(self) -> list[tuple[str, str, float, float]]:
        """(output, input, factor, offset) of each."""
        return list(self._description.connections())

    def connect(
        self, output: str, input: str, *, factor: float = 1.0, offset: float = 0.0, convert_units: bool = True
    ) -> System:
        """input = factor * output + offset; names are "subsystem.variable". Replaces what fed the input before."""
        for name in (output, input):
            if not isinstance(name, str) or "." not in name:
                raise TypeError(f"a port is written 'subsystem.variable', not {name!r}")
        self._description.connect(output, input, float(factor), float(offset), bool(convert_units))
        return self

    def disconnect(self, input: str) -> System:
        """The input keeps its start value."""
        if self._description.disconnect(input) == 0:
            raise KeyError(f"{input}: nothing is connected to it")
        return self

    def add_method(self, method: type[Method]) -> System:
        """A coupling method of your own can be named, compared and advised from now on."""
        method = check_method(method)
        self._methods[method.name] = method
        return self

    # How it is run.
    name = property(lambda self: str(self._description.name), doc="Of the system; results are named after it.")
    start = property(
        lambda self: float(self._description.start), lambda self, t: self._set(start=t), doc="Start time in s."
    )
    stop = property(lambda self: self._description.stop, lambda self, t: self._set(stop=t), doc="Stop time in s.")
    step = property(lambda self: self._description.step, lambda self, h: self._set(step=h), doc="Macro step in s.")
    method = property(
        lambda self: str(self._description.method), lambda self, m: self._set(method=m), doc="The coupling method."
    )
    tolerance = property(
        lambda self: self._description.tolerance,
        lambda self, tolerance: self._set(tolerance=tolerance),
        doc="What is tolerated of an error, as a share of the range of an output.",
    )
    open = property(
        lambda self: self._description.open or [],
        lambda self, open: self._set(open=open),
        doc="Inputs that stay open on purpose, by name or pattern; none of them is warned of.",
    )
    options = property(
        lambda self: dict(self._description.options()),
        lambda self, options: self._set(options=options),
        doc="Options of the method that are written; docs/theory has a page per method.",
    )

    def _set(self, **keys: Any) -> None:
        self._description = self._changed(keys)

    def _changed(self, keys: Mapping[str, Any]) -> _core.Description:
        """The description with other keys of [run], [record] and [method]."""
        description = self._description.copy()
        for key in keys:
            if key not in _ALL_KEYS:
                raise TypeError(f"unknown argument '{key}'; {_core.suggestion(key, list(_ALL_KEYS))}")
        given = {key: value for key, value in keys.items() if value is not None}
        for key in ("start", "stop", "step", "tolerance", "interval"):
            if key in given:
                setattr(description, key, float(given[key]))
        method = given.get("method")
        if method is not None and not isinstance(method, str):
            self.add_method(method)
            method = method.name
        if method is not None:
            description.method = method
        for key in ("record", "open", "exclude"):
            if key in given:
                words = given[key]
                setattr(description, key, [words] if isinstance(words, str) else list(words))
        for key in ("isolate", "sandbox"):
            if key in given:
                setattr(description, key, bool(given[key]))
        self._set_pace(description, given)
        for output, tolerance in given.get("tolerances", {}).items():
            description.set_tolerance(output, float(tolerance))
        for option, value in given.get("options", {}).items():
            description.set_option(option, value)
        for variable, value in given.get("values", {}).items():
            description.set_start(variable, value)
        scenario = given.get("scenario")
        if isinstance(scenario, (str, os.PathLike)):
            description.apply_scenario(Path(scenario))
        elif scenario:
            description.apply_scenario_text("scenario = " + _toml(list(scenario)))
        return description

    @staticmethod
    def _set_pace(description: _core.Description, given: Mapping[str, Any]) -> None:
        if "real_time" in given:
            pace = given["real_time"]
            description.real_time = None if pace is False else float(pace)
        if "overrun" in given:
            description.set_overrun(given["overrun"])
        if given.get("stand_in", False):
            description.put_stand_ins()

    def _makers(self) -> dict[str, Callable[[], Adapter]]:
        def maker(given: Any) -> Callable[[], Adapter]:
            return lambda: Adapter(given)

        return {name: maker(given) for name, given in self._own.items()}

    def _prepared(self, keys: Mapping[str, Any]) -> _core.Description:
        """As it is run: FMUs apart, and what is not written as they propose."""
        description = self._changed(keys)
        description.take_default_experiments()
        description.isolate_fmus()
        return description

    def _call(self, verb: Callable[..., Any], description: _core.Description, *more: Any, progress: Any = None) -> Any:
        """Calls a verb of the engine; what Python code of the user threw is the cause of its error."""
        shown = bar(progress)
        control = _core.Control(shown)
        try:
            answer = verb(description, self._makers(), list(self._methods.values()), control, *more)
        except Error as error:
            thrown = control.thrown()
            if thrown is not None:
                raise error from thrown
            raise
        finally:
            if shown is not None:
                shown.close()
            raised = control.raised()
            if raised is not None:  # by the handler of a signal
                raise raised
        if isinstance(answer, dict) and "failure" in answer:
            answer["thrown"] = control.thrown()
        elif control.interrupted:
            warn(["interrupted: the answer is what was known by then"])
        return answer

    # Verbs.
    def check(self, **keys: Any) -> Problems:
        """Everything wrong or doubtful at once, without a run: names, connections, capabilities, options."""
        return Problems(self._call(_core.check, self._prepared(keys), progress=False))

    def inspect(self, **keys: Any) -> dict[str, Any]:
        """What it is made of: variables, capabilities, loops, and which methods can run it (`entrain inspect --json`)."""
        return dict(json.loads(self._call(_core.inspect, self._prepared(keys))))

    def initial(self, **keys: Any) -> list[dict[str, Any]]:
        """What every input is at the start, and from where."""
        return list(json.loads(self._call(_core.inspect_initial, self._prepared(keys)))["initial_inputs"])

    def placement(self, ranks: int, **keys: Any) -> dict[str, Any]:
        """Where the subsystems of a run over so many ranks would be (`entrain inspect --ranks N --json`)."""
        return dict(json.loads(self._call(_core.inspect_placement, self._prepared(keys), ranks)))

    def methods(self) -> list[dict[str, Any]]:
        """All coupling methods, with order, cost and options; those of your own come last."""
        return list(_core.methods(list(self._methods.values())))

    def advise(
        self,
        *,
        verify: bool = False,
        search: bool = False,
        curves: bool = False,
        gains: Sequence[str] = (),
        parameters: Sequence[str] = (),
        threads: int = 1,
        progress: bool | None = None,
        **keys: Any,
    ) -> Advice:
        """Which method and which step suit the system; `s.advise().apply()` takes them."""
        settings = {
            "verify": verify,
            "search": search,
            "curves": curves,
            "gains": list(gains),
            "parameters": list(parameters),
            "threads": threads,
        }
        return Advice(self._call(_core.advise, self._prepared(keys), settings, progress=progress), self)

    def verify(self, *, threads: int = 1, progress: bool | None = None, **keys: Any) -> Verification:
        """Runs with h, h/2 and h/4, and what they show of the error of every output."""
        return Verification(json.loads(self._call(_core.verify, self._prepared(keys), threads, progress=progress)))

    def learn(
        self,
        *,
        iterations: int = 30,
        learn_tolerance: float = 1e-9,
        gain: float = 1.0,
        cutoff: float | None = None,
        forgetting: float | None = None,
        fade: float = 5.0,
        progressive: str = "auto",
        inputs: str | None = None,
        horizon: float = 0.0,
        memory: int = 0,
        compare: bool = True,
        state: PathLike | None = None,
        resume: PathLike | None = None,
        runs: Sequence[PathLike] = (),
        priority: bool = False,
        threads: int = 1,
        progress: bool | None = None,
        **keys: Any,
    ) -> Learning:
        """Runs again and again, and learns what to add to inputs (docs/theory/learning.md).

        Args:
            iterations: runs at most; with a progressive horizon, for each horizon
            learn_tolerance: what may be missed at a learned input, relative to the range of its signal
            gain: the share of the error that is learned from each run
            cutoff: of a low-pass filter of the corrections, in Hz; 0: none; without, on a bench by the measured noise
            forgetting: share of the corrections that is forgotten from run to run; without, likewise
            fade: on a bench, corrections fade out this many times what runs differ by away from the run before; 0: never
            progressive: learn the first seconds first: "auto" (if all at once diverges), "always" or "never"
            inputs: what they are corrected to: "held", "linear" or "hermite"; without, the best that all take
            horizon: by which a progressive horizon grows, in s
            memory: earlier runs that the next correction is made of besides the last; 4 needs fewer runs
            compare: find the errors of the run without corrections and of learned held inputs, too
            state: file that the learning can go on from, written before every run
            resume: go on from such a file, or from the folder of an `entrain learn`
            runs: folders or files of recorded runs; learns from them alone, nothing is run
            priority: of paced runs (`real_time`), as for `run`
        """
        options = {
            "iterations": iterations,
            "tolerance": learn_tolerance,
            "gain": gain,
            "cutoff": cutoff,
            "forgetting": forgetting,
            "fade": fade,
            "progressive": progressive,
            "inputs": inputs,
            "horizon": horizon,
            "memory": memory,
            "compare": compare,
            "state": _state_file(resume or state),
            "resumes": resume is not None,
            "runs": [Path(run) for run in runs],
            "priority": priority,
            "threads": threads,
        }
        return Learning(self._call(_core.learn, self._prepared(keys), options, progress=progress))

    def run(
        self,
        *,
        stop: float | None = None,
        step: float | None = None,
        method: MethodLike | None = None,
        tolerance: float | None = None,
        options: Mapping[str, Any] | None = None,
        values: Mapping[str, Value] | None = None,
        scenario: PathLike | Sequence[Mapping[str, Any]] | None = None,
        record: Sequence[str] | str | None = None,
        interval: float | None = None,
        out: PathLike | None = None,
        overwrite: bool = False,
        estimate: bool = True,
        until_trusted: bool = False,
        budget: float = 50.0,
        learned: Learning | PathLike | None = None,
        calls: bool = False,
        checkpoint: PathLike | None = None,
        every: float | None = None,
        resume: PathLike | None = None,
        priority: bool = False,
        threads: int | Literal["auto"] = "auto",
        progress: bool | None = None,
        **keys: Any,
    ) -> Result:
        """Runs the system to the stop time.

        Args:
            stop, step: s
            method: the name of a coupling method, or a class derived from `entrain.Method`; "auto" chooses one
            tolerance: of an error, as a share of the range of an output: what is trusted
            options: of the method
            values: start values by "subsystem.variable"
            scenario: what happens during the run, behind what the system has of its own (docs/scenarios.md): a file, or
                a list such as `[{"at": 2.0, "set": "motor.load", "value": 5.0}]`
            record: patterns of the signals to keep ("motor.*"); all outputs without
            interval: keep rows on this grid in s, instead of every communication time
            out: a folder for the files of the run, as `entrain run --out`; without, they are temporary
            estimate: find the error of every output, by further runs if need be
            until_trusted: run again with smaller steps or another method until the result is trusted, with at most
                `budget` times the steps of the first run
            learned: what `learn` returned, or the file that it saved
            calls: write calls.csv into `out`: steps and trials of every subsystem, with the inputs that they got
            checkpoint, every, resume: files to continue from (docs/checkpoints.md)
            priority: of a paced run: ask for SCHED_FIFO, locked memory and a core
            threads: "auto": as many as pay, by the times of the first steps, but one with subsystems in Python; the result
                does not depend on them
            progress: show a bar; without a word, in notebooks and terminals

        Further keys, here and in the other verbs: `start`, `tolerances`, `open`, `exclude`, `isolate`, `sandbox`; at the
        pace of the wall clock `real_time` (True, or simulated seconds per second) and `overrun` ("catch-up", "skip",
        "stop"); `stand_in=True` computes parts outside by their models (docs/real_time.md).

        Ctrl-C ends the run and returns what is there, with `termination` "interrupted". A run that fails raises `Error`,
        whose `result` has everything up to then.
        """
        keys.update(stop=stop, step=step, method=method, tolerance=tolerance, options=options, values=values)
        keys.update(record=record, interval=interval, scenario=scenario)
        temporary = None if out is not None else tempfile.mkdtemp(prefix="entrain-")
        folder = Path(out) if out is not None else Path(temporary or "") / self._folder_name()
        correction = None
        if isinstance(learned, Learning):
            correction = learned._learning.learned
        elif learned is not None:
            correction = _core.read_learned(Path(learned))
        arguments = {
            "folder": folder,
            "overwrite": overwrite,
            "calls": calls,
            "writes_results": out is not None,
            "threads": None if threads == "auto" else threads,
            "estimate": estimate,
            "priority": priority,
            "budget": float(budget) if until_trusted else None,
            "learned": correction,
            "checkpoint": None if checkpoint is None else Path(checkpoint),
            "every": every,
            "resume": None if resume is None else Path(resume),
            "system": str(self._description.file) if str(self._description.file) not in ("", ".") else "",
        }
        try:
            ran = self._call(_core.run, self._prepared(keys), arguments, progress=progress)
        except BaseException:
            if temporary is not None:
                shutil.rmtree(temporary, ignore_errors=True)
            raise
        return self._finished(ran, folder, temporary)

    def _folder_name(self) -> str:
        return "".join(c if c.isalnum() or c in "-_" else "-" for c in self.name) or "system"

    def _finished(self, ran: dict[str, Any], folder: Path, temporary: str | None) -> Result:
        result = Result._of(ran, folder, has_results=temporary is None, temporary=temporary)
        thrown = ran["thrown"]
        error = ran["failure"] or ran["failed_at_end"]
        if ran["termination"] == "interrupted":
            warn([f"{result.summary['message']}; the result is what was recorded until then"])
        elif error is not None:
            error.result = result
            raise error from thrown
        elif ran["interrupted"]:
            warn(["interrupted while the error was estimated; the run itself is complete"])
        warn(ran["warnings"])
        return result

    def simulate(
        self,
        *,
        stop: float | None = None,
        step: float | None = None,
        method: MethodLike | None = None,
        signals: Sequence[str] | str = (),
        record: bool | Sequence[str] = False,
        resume: PathLike | None = None,
        threads: int = 1,
        **keys: Any,
    ) -> Simulation:
        """The system to be driven step by step:

            with s.simulate(step=0.01) as sim:
                for sample in sim:
                    if sample["motor.w"] > 300:
                        sim["ctrl.enable"] = False

        Args:
            signals: patterns of signals that the samples have besides inputs and outputs: states, parameters, locals
            record: keep the signals: all outputs, or those of these patterns; `sim.result` has them after the end
            resume: go on from a checkpoint file
        """
        keys.update(stop=stop, step=step, method=method)
        if not isinstance(record, bool):
            keys["record"] = record
        given = {
            "signals": [signals] if isinstance(signals, str) else list(signals),
            "records": bool(record),
            "threads": threads,
        }
        simulation = Simulation(self, self._prepared(keys), given)
        if resume is not None:
            try:
                simulation._resume(Path(resume))
            except BaseException:
                simulation.close()
                raise
        return simulation

    def rig(
        self,
        subsystem: str,
        *,
        delay: float = 0.0,
        jitter: float = 0.0,
        loss: float = 0.0,
        doubled: float = 0.0,
        actuator_delay: float = 0.0,
        actuator_lag: float = 0.0,
        answer: str = "end",
        seed: int = 1,
        runs: int = 1,
        patience: float | None = None,
        listening: Callable[[str], object] | None = None,
        **keys: Any,
    ) -> dict[str, Any]:
        """Plays a part outside (udp, shm) by its model, in real time: `entrain rig`, docs/real_time.md. Returns what it
        counted, with the `arrivals` of all steps in s, after the last run or after Ctrl-C.

        Args:
            subsystem: the one that is played
            delay, jitter: wall clock s from the inputs to the answer, and what is added to it, evenly between 0 and this
            loss, doubled: shares of the answers that are not sent, or sent twice
            actuator_delay, actuator_lag: simulated s in front of the inputs: a dead time, a time constant
            answer: with the outputs at the "end" or at the "begin" of a step
            seed: of jitter, loss and doubled
            runs: that are served; 0: until it is interrupted
            patience: wall clock s without a datagram after which it ends
            listening: called with the address once it can be reached
        """
        given = {
            "delay": delay,
            "jitter": jitter,
            "loss": loss,
            "doubled": doubled,
            "actuator_delay": actuator_delay,
            "actuator_lag": actuator_lag,
            "answer": answer,
            "seed": seed,
            "runs": runs,
            "patience": patience,
            "listening": listening,
        }
        return dict(self._call(_core.play_rig, self._changed(keys), subsystem, given, progress=False))

    def sweep(
        self,
        vary: Mapping[str, Values] | None = None,
        n: int | None = None,
        *,
        quantities: Sequence[str] | str = (),
        sampling: str | None = None,
        seed: int | None = None,
        cases: PathLike | None = None,
        jobs: int = 0,
        estimate: bool = True,
        courses: bool = False,
        most_cases: int = 10_000,
        shard: str | tuple[int, int] | None = None,
        reference: PathLike | None = None,
        out: PathLike | None = None,
        resume: bool = False,
        retry_failed: bool = False,
        progress: bool | None = None,
        **keys: Any,
    ) -> Study:
        """Runs the system many times with other values (docs/sweeps.md):

            study = s.sweep({"motor.R": en.uniform(0.4, 0.6), "ctrl.kp": [1, 2, 4]}, n=1000)
            study.to_pandas()

        Args:
            vary: besides [sweep.vary] of the file, or in the place of the same name there: per name a list of values,
                or a distribution: `uniform`, `normal`, `lognormal`, `triangular`, `points`, or its text in a system
                file. Names are "subsystem.variable", "step", "stop", "method", "tolerance" and
                "option.NAME"
            n: how many cases; without, all combinations of the lists
            quantities: what is measured: "motor.w" (its last, min, max, mean, rms), "peak = max(motor.w) - last(motor.w)";
                without, those of the file, else all outputs
            sampling: "grid", "latin-hypercube" (the default with `n`), "random" or "sobol", for Sobol indices
            seed: decides all values
            cases: a CSV file with a column for each name and a case in each row, in the place of `vary`
            jobs: processes at the same time; 0: one for each processor
            estimate: find the error of every case; without, it is several times faster
            courses: keep the whole run of every case, in cases/N of `out`
            most_cases: more are refused
            shard: "2/8": only the second of eight parts; `merge_studies` puts them together
            reference: a CSV file of measured values: quantity, value, standard uncertainty
            out: the folder of the study; without, it is temporary
            resume: go on with the cases that `out` lacks
            retry_failed: with `resume`: repeat those that failed

        A case that fails is a row with its message. Ctrl-C ends the sweep and returns the cases that are done.
        """
        from ._study import Study, distribution_text, shard_of

        description = self._changed(keys)
        description.take_default_experiments()
        first, count = shard_of(shard)
        given = {
            "vary": [(name, distribution_text(name, values)) for name, values in (vary or {}).items()],
            "cases": n,
            "quantities": [quantities] if isinstance(quantities, str) else list(quantities),
            "sampling": sampling,
            "seed": seed,
            "list": None if cases is None else os.path.abspath(cases),
            "jobs": jobs,
            "estimate": estimate,
            "courses": courses,
            "page": out is not None,
            "most_cases": most_cases,
            "shard": first,
            "shards": count,
            "reference": None if reference is None else Path(reference),
            "resume": resume,
            "retry_failed": retry_failed,
        }
        temporary = None if out is not None else tempfile.mkdtemp(prefix="entrain-")
        given["folder"] = Path(out) if out is not None else Path(temporary or "") / self._folder_name()
        try:
            return Study(self._call(_core.sweep, description, given, progress=progress), temporary)
        except BaseException:
            if temporary is not None:
                shutil.rmtree(temporary, ignore_errors=True)
            raise

    def function(
        self, inputs: Sequence[str], outputs: Sequence[str], *, on_failure: str = "raise", **keys: Any
    ) -> Function:
        """The system as a function of numbers, for SciPy, SALib, Optuna: `f(x)` runs it with the start values `x` of
        `inputs` and returns one number per output.

        Args:
            inputs: "subsystem.variable": parameters, states or inputs
            outputs: "subsystem.variable.what" with what = last, first, max, min, mean, rms, range or integral
            on_failure: "raise" an error, or return "nan"
        """
        from ._function import Function

        return Function(self, inputs, outputs, on_failure, keys)

    def gym(
        self,
        *,
        actions: Sequence[str],
        observations: Sequence[str],
        reward: Callable[[Any], float],
        step: float,
        terminated: Callable[[Any], bool] | None = None,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        **keys: Any,
    ) -> Environment:
        """The system as a gymnasium.Env.

        Args:
            actions: inputs that no output feeds, or tunable parameters
            observations: patterns of signals
            reward: called with the sample after each step
            step: of the environment in s; the macro step is that of the system
            terminated: called with the sample; True ends the episode
            bounds: of actions and observations, by name
        """
        from ._gym import Environment

        return Environment(self, actions, observations, reward, step, terminated, bounds or {}, keys)

    # Files.
    def text(self) -> str:
        """The system as the text of a system file. Subsystems in Python are named, not contained."""
        return str(self._absolute().text())

    def save(self, file: PathLike) -> None:
        """Writes that text."""
        self._absolute().save(Path(file))

    def convert(self, file: PathLike) -> list[Fact]:
        """Writes the system in another format: .toml, .ssp with the FMUs packed, .ssd. Returns what it has no word for."""
        self._refuse_own("convert")
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / f"{self._folder_name()}.toml"
            self._absolute().save(source)
            return [Fact(fact) for fact in _core.convert(source, Path(file), False)]

    def _refuse_own(self, what: str) -> None:
        if self._own:
            raise ValueError(f"{what}: '{next(iter(self._own))}' is written in Python, which a file cannot contain")

    def _absolute(self) -> _core.Description:
        description = self._description.copy()
        description.make_paths_absolute()
        return description

    def copy(self) -> System:
        """Another system with the same content."""
        other = System.__new__(System)
        other._description = self._description.copy()
        other._own = dict(self._own)
        other._methods = dict(self._methods)
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> System:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        return {"text": self.text(), "name": self.name, "own": self._own, "methods": self._methods}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._description = _core.parse(state["text"], Path(state["name"] + ".toml"))
        self._description.name = state["name"]
        self._own = state["own"]
        self._methods = state["methods"]

    def __repr__(self) -> str:
        count = len(self.connections)
        return f"<entrain.System {self.name}: {len(self)} subsystems, {count} connections, {self.method}>"

    def _repr_html_(self) -> str:
        """A drawing, and what the subsystems can do."""
        from ._drawing import page_of

        return page_of(self)
