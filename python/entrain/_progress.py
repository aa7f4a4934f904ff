"""A bar while something takes long."""
from __future__ import annotations

import sys
import time
from typing import Any

_SHOWN_AFTER = 0.5  # s
_WIDTH = 30


def in_notebook() -> bool:
    """Whether a cell of a notebook is running."""
    ipython = sys.modules.get("IPython")
    if ipython is None:
        return False
    shell = ipython.get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def _html(text: str) -> Any:
    import IPython.display

    make: Any = IPython.display.HTML
    return make(text)


class Bar:
    """Shows how far a call of the engine is, once it lasts for half a second."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._handle: Any = None
        self._shown = False

    def __call__(self, what: str, fraction: float) -> None:
        if time.monotonic() - self._begin < _SHOWN_AFTER:
            return
        self._shown = True
        if in_notebook():
            self._show_html(what, fraction)
        else:
            self._show_text(what, fraction)

    def close(self) -> None:
        """Removes it."""
        if not self._shown:
            return
        if self._handle is not None:
            self._handle.update(_html(""))
        else:
            sys.stderr.write("\r" + " " * (_WIDTH + 50) + "\r")
            sys.stderr.flush()

    def _show_text(self, what: str, fraction: float) -> None:
        if fraction < 0:
            line = f"\r{what[:_WIDTH + 40]:<{_WIDTH + 40}}"
        else:
            done = round(max(0.0, min(1.0, fraction)) * _WIDTH)
            line = f"\r{what:<9}[{'#' * done}{'.' * (_WIDTH - done)}] {100 * fraction:3.0f} %"
        sys.stderr.write(line)
        sys.stderr.flush()

    def _show_html(self, what: str, fraction: float) -> None:
        bar = "<progress>" if fraction < 0 else f"<progress value='{fraction:.3f}' max='1'>"
        html = _html(f"<span style='font-family:monospace'>{what}</span> {bar}</progress>")
        if self._handle is None:
            import IPython.display

            show: Any = IPython.display.display
            self._handle = show(html, display_id=True)
        else:
            self._handle.update(html)


def bar(progress: bool | None) -> Bar | None:
    """A bar if one is asked for; without a word, where people look: in notebooks and terminals."""
    if progress is None:
        progress = in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
    return Bar() if progress else None
