"""Reports of commands: checks and figures, printed as text or JSON."""

import json
from collections.abc import Sequence
from types import EllipsisType
from typing import TypeAlias, final

import attrs

from tensorwrapper._error_text import counted
from tensorwrapper._value_class import frozen

Figure: TypeAlias = "int | float | str | list[int] | dict[str, Figure] | None"
"""A reported value that is not checked."""
Value: TypeAlias = "bool | int | float | str | Sequence[Value] | None"
"""Compared values, and elements of a tensor."""

_GREEN, _RED, _PLAIN = "\x1b[32m", "\x1b[1;31m", "\x1b[0m"


@final
@frozen
class Check:
    """One statement that was tested."""

    name: str
    expected: Value
    found: Value
    ok: bool
    digits: int | None = None
    """Number of decimal places to compare and show; None for exact equality."""

    def to_text(self, *, colours: bool = False) -> str:
        """Return a line for people."""
        sign = "ok    " if self.ok else "FAILED"
        if colours:
            sign = f"{_GREEN if self.ok else _RED}{sign}{_PLAIN}"
        found, expected = self._shown(self.found), self._shown(self.expected)
        return f"{sign} {self.name}: {found if self.ok else f'{found}, expected {expected}'}"

    def _shown(self, value: Value) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, list):
            return f"({', '.join([self._shown(own) for own in value])})"
        return str(value) if self.digits is None else f"{value:.{self.digits}f}"


@final
@frozen
class Report:
    """The result of a command."""

    command: str
    checks: tuple[Check, ...]
    figures: dict[str, Figure]
    lines: tuple[str, ...] = ()
    """Text before the checks."""
    entries: "tuple[dict[str, Figure], ...] | None" = None
    """The rows of `lines` for JSON; None if the report has no rows."""
    value: "Value | EllipsisType" = ...
    """The elements in `lines` for JSON, a null as None; an ellipsis if the report shows no elements."""

    @property
    def ok(self) -> bool:
        """True if every check passed."""
        return all(check.ok for check in self.checks)

    def to_json(self) -> str:
        """Return the report as JSON."""
        whole: dict[str, object] = {
            "command": self.command,
            "ok": self.ok,
            "checks": [attrs.asdict(check) for check in self.checks],
            "figures": self.figures,
        }
        if self.entries is not None:
            whole["entries"] = self.entries
        if self.value is not ...:
            whole["value"] = self.value
        return json.dumps(whole, indent=2, ensure_ascii=False)

    def to_text(self, *, colours: bool = False) -> str:
        """Return the report as text."""
        lines = [*self.lines, ""] if self.checks or self.figures else [*self.lines]
        lines += [check.to_text(colours=colours) for check in self.checks]
        lines += [""] if self.checks else []
        lines += _figure_lines(self.figures, 0)
        if self.checks:
            failed = sum(not check.ok for check in self.checks)
            held = counted(len(self.checks) - failed, "check")
            lines += ["", f"{held} passed, {failed} failed"]
        return "\n".join(lines)


def failure_to_json(command: str, error: str, kind: str) -> str:
    """Return an error and its name as JSON, for a command that could not finish."""
    whole = {"command": command, "ok": False, "error": error, "kind": kind}
    return json.dumps(whole, indent=2, ensure_ascii=False)


def _figure_lines(figures: "dict[str, Figure]", depth: int) -> list[str]:
    lines: list[str] = []
    for name, value in figures.items():
        indent = "  " * depth
        if isinstance(value, dict):
            lines += [f"{indent}{name}:", *_figure_lines(value, depth + 1)]
        elif value is not None:
            shown = f"{value:_}".replace("_", " ") if isinstance(value, int) else str(value)
            lines.append(f"{indent}{name}: {shown}")
    return lines
