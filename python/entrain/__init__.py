"""Entrain: coupled simulation of FMUs, models and Python code, with a verdict on its error.

    import entrain as en

    s = en.System("plant.ssp")
    r = s.run(stop=20, tolerance=1e-3)
    print(r.verdict.headline)
    r["gearbox.torque"].values

docs/python.md has a task per heading.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core
from ._answers import Advice, Learning, Problems, Verification
from ._core import Checkpoint, CoupledSystem, Sample
from ._control import RunControl, control
from ._error import EntrainWarning, Error, Fact
from ._function import Function
from ._method import Method
from ._program import FOLDER as _PROGRAMS
from ._program import Studio, studio
from ._result import Comparison, Result, Signal, Verdict, compare
from ._simulation import Simulation
from ._study import Distribution, Study, lognormal, merge_studies, normal, points, triangular, uniform
from ._subsystem import Subsystem
from ._system import System
from ._verbs import check, convert, inspect, methods, new, report, reproduce, schema

if TYPE_CHECKING:
    from ._gym import Environment

__version__: str = _core.version()
__all__ = [
    "Advice",
    "Checkpoint",
    "Comparison",
    "CoupledSystem",
    "Distribution",
    "EntrainWarning",
    "Error",
    "Fact",
    "Function",
    "Learning",
    "Method",
    "Problems",
    "Result",
    "RunControl",
    "Sample",
    "Signal",
    "Simulation",
    "Studio",
    "Study",
    "Subsystem",
    "System",
    "Verdict",
    "Verification",
    "check",
    "compare",
    "control",
    "convert",
    "inspect",
    "lognormal",
    "merge_studies",
    "methods",
    "new",
    "normal",
    "points",
    "report",
    "reproduce",
    "schema",
    "studio",
    "triangular",
    "uniform",
]

if (_PROGRAMS / "entrain-worker").exists():
    _core.set_worker_program(_PROGRAMS / "entrain-worker")


def __getattr__(name: str) -> Any:
    if name == "Environment":  # it needs gymnasium
        from ._gym import Environment

        return Environment
    raise AttributeError(f"module 'entrain' has no attribute '{name}'")
