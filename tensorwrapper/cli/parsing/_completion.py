"""``tensorwrapper completion``: generate shell completion from the parser."""

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, final

from tensorwrapper._value_class import frozen
from tensorwrapper.cli._report import Report
from tensorwrapper.cli.parsing._commands import COMMANDS
from tensorwrapper.cli.parsing._parser import Parser, make_parser

_FILES: Final = {"FILE", "FOLDER", "PATH", "IN", "OUT"}
"""Metavars in the help that stand for files, which shells can complete."""
_OF_ZSH: Final = re.compile(r"[\[\]:]")
_END: Final = re.compile(r"[;(:]|\.(?:\s|$)")
"""End of the first part of a sentence."""


def run(options: argparse.Namespace) -> Report:
    """Run the command and return its report."""
    script = script_of(make_parser(COMMANDS), options.shell)
    return Report("completion", (), {}, (script.rstrip("\n"),), value=script)


def script_of(parser: Parser, shell: str) -> str:
    """Return the completion script of a parser for ``bash``, ``zsh`` or ``fish``."""
    return _SCRIPTS[shell](
        _words(parser, ""), [_words(sub, sub.description or "") for sub in parser.commands.values()]
    )


@final
@frozen
class _Word:
    """An option, or a positional argument."""

    flags: tuple[str, ...]
    """Option strings; empty for a positional argument."""
    meaning: str
    metavar: str | None
    """Metavar of the value; None for an option without a value."""
    choices: tuple[str, ...]
    many: bool
    optional: bool

    @property
    def is_file(self) -> bool:
        return self.metavar in _FILES


@final
@frozen
class _Words:
    """Options, arguments and commands of a parser."""

    name: str
    summary: str
    options: tuple[_Word, ...]
    places: tuple[_Word, ...]


def _words(parser: Parser, summary: str) -> _Words:
    own = [_word(action) for action in parser.takes]
    return _Words(
        parser.prog.rpartition(" ")[2],
        summary,
        tuple([word for word in own if word.flags]),
        tuple([word for word in own if not word.flags]),
    )


def _word(action: argparse.Action) -> _Word:
    default = "" if action.default is None else str(action.default)
    return _Word(
        tuple(action.option_strings),
        (action.help or "").replace("%(default)s", default),
        None if action.nargs == 0 else str(action.metavar or action.dest.upper()),
        tuple([str(choice) for choice in action.choices or ()]),
        action.nargs in ("*", "+"),
        action.nargs in ("*", "?"),
    )


def _bash(whole: _Words, commands: Sequence[_Words]) -> str:
    names = " ".join([own.name for own in commands])
    values: list[str] = []
    words: list[str] = []
    for own in (whole, *commands):
        name = "" if own is whole else own.name
        flags = " ".join([flag for word in own.options for flag in word.flags])
        places = " ".join([choice for word in own.places for choice in word.choices])
        words.append(f'        "{name}") options="{flags}" words="{names if own is whole else places}" ;;')
        for word in own.options:
            if word.metavar is not None:
                before = "|".join([f'"{name} {flag}"' for flag in word.flags])
                answer = "" if word.is_file else f'_tensorwrapper_words "{" ".join(word.choices)}"; '
                values.append(f"        {before}) {answer}return ;;")
    return f"""\
# Completion of tensorwrapper for bash.
_tensorwrapper_words() {{
    compopt +o default 2> /dev/null
    COMPREPLY=($(compgen -W "$1" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
_tensorwrapper() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
    local command="" options="" words="" i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case " {names} " in
            *" ${{COMP_WORDS[i]}} "*) command=${{COMP_WORDS[i]}} && break ;;
        esac
    done
    case "$command $before" in
{chr(10).join(values)}
    esac
    case "$command" in
{chr(10).join(words)}
    esac
    if [[ $word == -* ]]; then
        _tensorwrapper_words "$options"
    elif [[ -n $words ]]; then
        _tensorwrapper_words "$words"
    fi
}}
complete -o default -F _tensorwrapper tensorwrapper
"""


def _zsh(whole: _Words, commands: Sequence[_Words]) -> str:
    rows = [f"        {_zsh_quoted(f'{own.name}:{_brief(own.summary)}')}" for own in commands]
    cases: list[str] = []
    for own in commands:
        words = [*[_zsh_option(word) for word in own.options], *_zsh_places(own.places)]
        cases.append(f"            {own.name}) _arguments {' '.join(words)} ;;")
    top = " ".join([_zsh_option(word) for word in whole.options])
    return f"""\
#compdef tensorwrapper
# Completion of tensorwrapper for zsh.
_tensorwrapper() {{
    local state
    local -a commands
    commands=(
{chr(10).join(rows)}
    )
    _arguments -C {top} '1: :->command' '*:: :->words'
    case $state in
        command) _describe command commands ;;
        words)
            case $words[1] in
{chr(10).join(cases)}
            esac ;;
    esac
}}
if [[ $funcstack[1] == _tensorwrapper ]]; then
    _tensorwrapper "$@"
else
    compdef _tensorwrapper tensorwrapper
fi
"""


def _zsh_option(word: _Word) -> str:
    meaning = _OF_ZSH.sub(r"\\\g<0>", _brief(word.meaning))
    value = "" if word.metavar is None else f":{word.metavar}:{_zsh_values(word)}"
    others = " ".join(word.flags)
    return " ".join([_zsh_quoted(f"({others}){flag}[{meaning}]{value}") for flag in word.flags])


def _zsh_places(places: Sequence[_Word]) -> list[str]:
    found: list[str] = []
    for number, word in enumerate(places, 1):
        where = "*" if word.many else str(number)
        colons = "::" if word.optional and not word.many else ":"
        found.append(_zsh_quoted(f"{where}{colons}{word.metavar}:{_zsh_values(word)}"))
    return found


def _zsh_values(word: _Word) -> str:
    if word.choices:
        return f"({' '.join(word.choices)})"
    return "_files" if word.is_file else ""


def _zsh_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish(whole: _Words, commands: Sequence[_Words]) -> str:
    begin = "complete -c tensorwrapper"
    lines = ["# Completion of tensorwrapper for fish.", f"{begin} -f"]
    alone = f"{begin} -n __fish_use_subcommand"
    lines += [f"{alone}{_fish_option(word)}" for word in whole.options]
    for own in commands:
        lines.append(f"{alone} -a {own.name} -d {_fish_quoted(_brief(own.summary))}")
        here = f"{begin} -n '__fish_seen_subcommand_from {own.name}'"
        lines += [f"{here}{_fish_option(word)}" for word in own.options]
        lines += [f"{here} -a '{' '.join(word.choices)}'" for word in own.places if word.choices]
        if any(word.is_file for word in own.places):
            lines.append(f"{here} -F")
    return "\n".join(lines) + "\n"


def _fish_option(word: _Word) -> str:
    names = "".join([f" -l {own[2:]}" if own.startswith("--") else f" -s {own[1:]}" for own in word.flags])
    value = "" if word.metavar is None else " -r -F" if word.is_file else " -x"
    choices = f" -a '{' '.join(word.choices)}'" if word.choices else ""
    return f"{names}{value}{choices} -d {_fish_quoted(_brief(word.meaning))}"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _brief(text: str) -> str:
    """Return a description that fits on a line."""
    return _END.split(text, maxsplit=1)[0].strip()


_SCRIPTS: Final[Mapping[str, Callable[[_Words, Sequence[_Words]], str]]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
