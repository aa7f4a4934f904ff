"""What goes wrong, as data."""
from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._result import Result

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


class EntrainWarning(UserWarning):
    """What may degrade a result. Python shows each once per line of your code; `warnings.filterwarnings` changes that."""


class Fact:
    """One thing that is reported of a system or a run: a code, subjects and values to decide by, and a sentence.

    All codes are in docs/facts.md.
    """

    __slots__ = ("code", "file", "kind", "line", "remedy", "subjects", "text", "values")

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.code: str = facts["code"]
        self.kind: str = facts.get("kind", "")
        self.text: str = facts.get("text", "")
        self.subjects: list[str] = list(facts.get("subjects", []))
        self.values: dict[str, float | str] = dict(facts.get("values", {}))
        self.remedy: str = facts.get("remedy", "")
        where = facts.get("where", facts)
        self.file: str = where.get("file", "")
        self.line: int = where.get("line", 0)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{self.kind or 'fact'} {self.code}: {self.text}>"


class Error(RuntimeError):
    """A wrong request or a broken run.

    Attributes:
        code: what happened, stable ("signal-unknown"; docs/facts.md)
        family: the kind of error: "invalid-system", "file-failed", "missing-capability", "subsystem-failed", ...
        subject: what it is about: a subsystem, a variable, an option
        subsystem, variable: where it happened, if it was in a run
        time: simulated time in s, or None
        remedy: what to do
        message: the sentence without subject, time and remedy
        problems: of a wrong system, all that is wrong
        result: of a failed run, what was recorded until then
    """

    def __init__(self, facts: Mapping[str, Any]) -> None:
        super().__init__(facts.get("text", ""))
        self._facts = dict(facts)
        self.code: str = facts.get("code", "custom-error")
        self.family: str = facts.get("family", "")
        self.message: str = facts.get("message", facts.get("text", ""))
        self.subjects: list[str] = list(facts.get("subjects", []))
        self.values: dict[str, float | str] = dict(facts.get("values", {}))
        self.subsystem: str = facts.get("subsystem", "")
        self.variable: str = facts.get("variable", "")
        self.subject: str = self.subjects[0] if self.subjects else self.subsystem
        self.time: float | None = facts.get("time")
        self.remedy: str = facts.get("remedy", "")
        self.problems: list[Fact] = [Fact(problem) for problem in facts.get("problems", [])]
        self.result: Result | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Error, (self._facts,), {"result": self.result}


def one_line(error: BaseException) -> str:
    """ "ZeroDivisionError: division by zero (controller.py:12, in step)": for a message of the engine."""
    text = "".join(traceback.format_exception_only(error)).strip().splitlines()
    line = text[-1] if text else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(_PACKAGE)]
    if not own:
        return line
    last = own[-1]
    return f"{line} ({os.path.basename(last.filename)}:{last.lineno}, in {last.name})"


def warn(facts: Iterable[Mapping[str, Any] | str]) -> None:
    """As Python warnings, at the line of the user's code that called the package."""
    level = 1
    frame = sys._getframe()  # alone where a thread of the engine calls
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    for fact in facts:
        text = fact if isinstance(fact, str) else fact["text"]
        warnings.warn(text, EntrainWarning, stacklevel=level)
