"""The table of commands: each row is a module, and its examples are lines that its parser takes."""

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
