"""The table of commands: each row is a module, and its examples are lines that its parser takes."""

import argparse
import importlib
import shlex

import pytest

from tensorwrapper.cli import COMMANDS
from tensorwrapper.cli.parsing._parser import make_parser, readable


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_the_examples_of_a_command_are_its_own(command):
    for example in command.examples:
        words = shlex.split(example.line.partition(" >")[0])
        options = make_parser(COMMANDS).parse_args(readable(words))

        assert options.chosen is command
        assert example.meaning
    assert command.examples


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_the_home_of_a_command_has_what_runs(command):
    assert callable(importlib.import_module(command.home).run)
    assert command.summary.endswith(".")


def options_of(command):
    parser = argparse.ArgumentParser(add_help=False)
    command.configure(parser)
    return {flag: action for action in parser._actions for flag in action.option_strings}


def test_an_option_is_the_same_thing_for_all_commands_that_take_it():
    seen = {}
    for command in COMMANDS:
        for flag, action in options_of(command).items():
            kind = (type(action), action.dest, action.type, action.metavar, action.nargs, action.choices)
            first, known = seen.setdefault(flag, (command.name, kind))
            assert kind == known, f"{flag} of {command.name} and of {first}"
            assert action.help
    assert {"--force", "--timeout", "--keys", "--allow", "--server-key"} <= set(seen)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_command_takes_what_all_take_and_its_own_options_are_words(command):
    assert all(flag.startswith("--") for flag in options_of(command))
    words = shlex.split(command.examples[0].line.partition(" >")[0])
    options = make_parser(COMMANDS).parse_args(readable([*words, "--json", "--verbose"]))
    assert (options.json, options.verbose) == (True, True)


def test_what_writes_a_file_replaces_none_without_being_told():
    for command in COMMANDS:
        flags = options_of(command)
        writes = {"convert", "get", "recv", "serve", "view"}
        assert ("--force" in flags) == (command.name in writes)
