"""Displays: tables of text, and blocks of HTML with a header, facts, pictures and folded parts."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from tensorwrapper._error_text import escaped, shortened

_TURNED: Final = "filter:invert(.9) hue-rotate(180deg)"
# Notebooks and pages say in their own ways that they are dark; where they say nothing, the system does.
_STYLE: Final = (
    ".tensorwrapper .tensorwrapper-picture{filter:none}"
    f"html[theme=dark] .tensorwrapper,body[data-theme=dark] .tensorwrapper,body.vscode-dark .tensorwrapper,"
    f"body[data-jp-theme-light=false] .tensorwrapper{{{_TURNED}}}"
    "@media (prefers-color-scheme:dark){body:not([data-theme=light]):not(.vscode-light)"
    f":not([data-jp-theme-light=true]) .tensorwrapper{{{_TURNED}}}}}"
)
_FACTS: Final = 12  # rows of a table
_TABLE: Final = "border:none;margin:6px 0;font-size:12px;border-collapse:collapse;max-width:100%"
_OPEN: Final = ' open="open"'


def text_table(rows: Sequence[Sequence[str]]) -> list[str]:
    r"""Return rows as lines. The last column, of numbers, is aligned to the right.

    Examples
    --------
    >>> print("\n".join(text_table([("name", "bytes"), ("a", "12"), ("long", "3")])))
    name  bytes
    a        12
    long      3
    """
    *widths, last = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([*[text.ljust(n) for text, n in zip(row[:-1], widths, strict=True)], row[-1].rjust(last)])
        for row in rows
    ]


class Fold(NamedTuple):
    """A part of a block that a click opens: its title, its HTML, and whether it is open at first."""

    title: str
    html: str
    opened: bool = False


def preformatted(text: str) -> str:
    """Return a text as HTML that keeps its lines.

    Examples
    --------
    >>> preformatted("a < b").endswith(">a &lt; b</pre>")
    True
    """
    style = "margin:4px 0;font-size:12px;line-height:1.35;overflow-x:auto;color:inherit;background:none"
    return f'<pre style="{style}">{escaped(text)}</pre>'


def html_table(rows: Sequence[Sequence[str]], *, more: int = 0) -> str:
    """Return rows of text as a table; the first row has the titles. The last line counts `more` rows.

    Examples
    --------
    >>> table = html_table([("name", "dtype"), ("x", "f8")], more=10)
    >>> table.count("<tr"), "and 10 more" in table
    (3, True)
    """
    cell = "padding:1px 14px 1px 0;text-align:left;border:none;background:none"
    titles = ("th", f"{cell};color:#66707c;font-weight:normal")
    lines = ""
    for number, row in enumerate([*rows, *([[f"and {more} more"]] if more else [])]):
        kind, style = ("td", cell) if number else titles
        cells = [f'<{kind} style="{style}">{escaped(shortened(text))}</{kind}>' for text in row]
        lines += f'<tr style="background:none">{"".join(cells)}</tr>'
    return f'<table style="{_TABLE}">{lines}</table>'


def html_block(
    text: str, facts: Iterable[tuple[str, str]] = (), picture: str = "", *, folds: Iterable[Fold] = ()
) -> str:
    """Return a header, a table of facts, a picture and folded parts as one block of HTML.

    It needs no other resource, is at most as wide as its cell, and dark in dark notebooks and pages.
    """
    cell = "padding:1px 14px 1px 0;text-align:left;border:none;background:none;overflow-wrap:anywhere"
    facts = list(facts)
    if len(facts) > _FACTS:
        facts = [*facts[: _FACTS - 1], ("", f"and {len(facts) - _FACTS + 1} more")]
    rows = [
        f'<tr style="background:none"><th style="{cell};color:#66707c;font-weight:normal">'
        f"{escaped(name)}</th>"
        f'<td style="{cell};color:#1f2933">{escaped(value)}</td></tr>'
        for name, value in facts
    ]
    frame = (
        "display:inline-block;box-sizing:border-box;max-width:100%;overflow-x:auto;padding:8px 12px;"
        "font:12px system-ui,sans-serif;border:1px solid #d5dae0;background:#ffffff;color:#1f2933"
    )
    code = "color:#1f2933;background:none;white-space:pre-wrap;overflow-wrap:anywhere"
    lines = [
        f'<div class="tensorwrapper" style="{frame}"><style>{_STYLE}</style>',
        f'<code style="{code}">{escaped(text)}</code>',
        *([f'<table style="{_TABLE}">', *rows, "</table>"] if rows else []),
        # Below the text also where no table is between.
        *([f"<div>{picture}</div>"] if picture else []),
        *[
            f"<details{_OPEN * fold.opened}><summary style='cursor:pointer;color:#2f6690'>"
            f"{escaped(fold.title)}</summary>{fold.html}</details>"
            for fold in folds
        ],
        "</div>",
    ]
    return "\n".join(lines)
