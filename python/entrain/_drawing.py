"""A system as a drawing, for notebooks."""
from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from ._error import Error

if TYPE_CHECKING:
    from ._system import System

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _MARGIN = 130, 46, 70, 44, 16
_SHOWN = 40  # subsystems; more are a table


def _layers(names: list[str], edges: list[tuple[str, str]]) -> dict[str, tuple[int, int]]:
    """Column and row of each box: sources left of consumers as far as the order of the subsystems allows."""
    rank = {name: position for position, name in enumerate(names)}
    column = dict.fromkeys(names, 0)
    for _ in names:
        changed = False
        for source, target in edges:
            if rank[source] < rank[target] and column[target] <= column[source]:
                column[target] = column[source] + 1
                changed = True
        if not changed:
            break
    rows: dict[int, int] = {}
    places = {}
    for name in names:
        places[name] = (column[name], rows.get(column[name], 0))
        rows[column[name]] = rows.get(column[name], 0) + 1
    return places


def _arrow(begin: tuple[float, float], end: tuple[float, float], title: str) -> str:
    """Between two boxes, given by their upper left corners: from right to left side, or back below both."""
    if end[0] > begin[0]:
        x, y, tx, ty = begin[0] + _WIDTH, begin[1] + _HEIGHT / 2, end[0] - 2, end[1] + _HEIGHT / 2
        bend = (tx - x) / 2
        path, color = f"M{x},{y} C{x + bend},{y} {tx - bend},{ty} {tx},{ty}", "#36c"
    else:
        x, y, tx, ty = begin[0] + _WIDTH * 0.4, begin[1] + _HEIGHT, end[0] + _WIDTH * 0.6, end[1] + _HEIGHT + 2
        low = max(y, ty) + 18 + (x - tx) * 0.03
        path, color = f"M{x},{y} C{x},{low} {tx},{low} {tx},{ty}", "#b50"
    return (
        f'<path d="{path}" fill="none" stroke="{color}" stroke-width="1.4" marker-end="url(#entrain-tip)">'
        f"<title>{html.escape(title)}</title></path>"
    )


def drawing(names: list[str], sources: dict[str, str], connections: list[tuple[str, str, float, float]]) -> str:
    """Boxes and arrows, as SVG. Arrows back are of another colour; pointing at one shows its signals."""
    pairs: dict[tuple[str, str], list[str]] = {}
    for output, target, *_ in connections:
        pair = (output.partition(".")[0], target.partition(".")[0])
        if pair[0] in sources and pair[1] in sources:
            pairs.setdefault(pair, []).append(f"{output} \u2192 {target}")
    places = _layers(names, list(pairs))

    def corner(name: str) -> tuple[float, float]:
        column, row = places[name]
        return _MARGIN + column * (_WIDTH + _GAP_X), _MARGIN + row * (_HEIGHT + _GAP_Y)

    parts = []
    for (source, target), signals in pairs.items():
        parts.append(_arrow(corner(source), corner(target), "\n".join(signals)))
    for name in names:
        x, y = corner(name)
        parts.append(
            f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="6" fill="#f4f6fa" stroke="#567"/>'
            f'<text x="{x + _WIDTH / 2}" y="{y + 20}" text-anchor="middle" font-weight="bold">{html.escape(name)}</text>'
            f'<text x="{x + _WIDTH / 2}" y="{y + 36}" text-anchor="middle" font-size="10" fill="#567">'
            f"{html.escape(sources[name][:22])}</text>"
        )
    width = _MARGIN * 2 + (max(p[0] for p in places.values()) + 1) * (_WIDTH + _GAP_X) - _GAP_X if places else 60
    height = _MARGIN * 2 + (max(p[1] for p in places.values()) + 1) * (_HEIGHT + _GAP_Y) if places else 40
    tip = (
        '<defs><marker id="entrain-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#345"/></marker></defs>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
        f'font-size="12">{tip}{"".join(parts)}</svg>'
    )


def _abilities(capabilities: dict[str, Any]) -> str:
    words = [name.replace("_", " ") for name in ("rollback", "states", "linearization") if capabilities.get(name)]
    if capabilities.get("input_degree"):
        words.append(f"inputs of degree {capabilities['input_degree']}")
    if capabilities.get("imposed_step"):
        words.append(f"step {capabilities['imposed_step']:g} s")
    return ", ".join(words) or "steps alone"


def page_of(system: System) -> str:
    """The drawing, a table of the subsystems, open inputs and problems."""
    connections = system.connections
    entries = system._description.subsystems()
    sources = {e["name"]: e["fmu"].rpartition("/")[2] or e["csv"].rpartition("/")[2] or e["model"] for e in entries}
    names = list(sources)
    parts = [f"<b>{html.escape(system.name)}</b> &nbsp; {html.escape(repr(system))}<br>"]
    try:
        inspection: dict[str, Any] = system.inspect()
    except Error as error:
        inspection = {}
        parts.append(f"<pre style='color:#a00'>{html.escape(str(error))}</pre>")
    if len(names) <= _SHOWN:
        order = [name for name in inspection.get("sequence", []) if name in sources]
        parts.append(drawing(order if len(order) == len(names) else names, sources, connections))
    fed = {target for _, target, *_ in connections}
    rows = []
    for name, about in inspection.get("subsystems", {}).items():
        inputs = [v["name"] for v in about["variables"]["inputs"] + about["variables"]["discrete_inputs"]]
        free = [port for port in inputs if f"{name}.{port}" not in fed]
        rows.append(
            f"<tr><td>{html.escape(name)}</td><td>{html.escape(about['source'])}</td>"
            f"<td>{html.escape(_abilities(about['capabilities']))}</td><td>{html.escape(', '.join(free))}</td></tr>"
        )
    if rows:
        parts.append(
            "<table><tr><th>subsystem</th><th>source</th><th>can</th><th>open inputs</th></tr>"
            + "".join(rows)
            + "</table>"
        )
    return "".join(parts)
