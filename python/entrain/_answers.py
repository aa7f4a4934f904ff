"""What the verbs of a system answer."""
from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from ._error import Fact
from ._result import PathLike

if TYPE_CHECKING:
    from ._system import System


class Problems(Sequence[Fact]):
    """Everything that is wrong or doubtful in a system, each with its remedy. Empty where there is nothing."""

    def __init__(self, facts: Sequence[Mapping[str, Any]]) -> None:
        self._facts = [Fact(fact) for fact in facts]

    @property
    def errors(self) -> list[Fact]:
        """Those that prevent a run."""
        return [fact for fact in self._facts if fact.kind == "error"]

    def __getitem__(self, index: Any) -> Any:
        return self._facts[index]

    def __len__(self) -> int:
        return len(self._facts)

    def __repr__(self) -> str:
        return "\n".join(str(fact) for fact in self._facts) or "no problems"


class Answer:
    """What a verb of the program prints with --json."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data: dict[str, Any] = dict(data)

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __contains__(self, key: object) -> bool:
        return key in self.data


class Advice(Answer):
    """Which method and which step suit a system, and why.

    Attributes:
        method, step: what is recommended; None where nothing can be
        reason: why, in a sentence
        data: everything, as `entrain advise --json`
    """

    def __init__(self, advice: _core.Advice, system: System) -> None:
        super().__init__(json.loads(advice.json()))
        self._advice = advice
        self._system = system
        self.method: str | None = advice.title() or None
        self.step: float | None = advice.step()
        self.reason: str = advice.reason()

    def apply(self) -> System:
        """The system takes the method and the step; returns it."""
        system = self._system
        system._description = system._call(self._advice.applied, system._description)
        return system

    def report(self, file: PathLike) -> None:
        """The advice as a page, HTML in one file."""
        self._advice.page(Path(file))

    def __repr__(self) -> str:
        if self.method is None:
            return f"<entrain.Advice: nothing can be recommended: {self.reason}>"
        step = f", step {self.step:g} s" if self.step is not None else ""
        return f"<entrain.Advice {self.method}{step}: {self.reason}>"


class Verification(Answer):
    """What runs with h, h/2 and h/4 show: `grade`, and per output the order and the error bar (`data["outputs"]`)."""

    @property
    def grade(self) -> str:
        """As for a run, by the error bars."""
        return str(self.data["grade"])

    def __repr__(self) -> str:
        return f"<entrain.Verification of {self.data['system']}: {self.grade}>"


class Learning(Answer):
    """Repeated runs that learned a correction: pass it on as `s.run(learned=learning)`."""

    def __init__(self, learning: _core.Learning) -> None:
        super().__init__(json.loads(learning.json()))
        self._learning = learning

    def save(self, file: PathLike) -> None:
        """Writes learned.json, which `entrain run --learned` takes."""
        self._learning.learned.save(Path(file))

    def report(self, file: PathLike) -> None:
        """How the runs went, as a page."""
        self._learning.page(Path(file))

    def __repr__(self) -> str:
        return f"<entrain.Learning: {len(self.data.get('iterations', []))} runs>"
