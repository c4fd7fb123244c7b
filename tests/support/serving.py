"""Servers of their own processes, started as a user does, and always ended."""

import contextlib
import json
import subprocess
import sys


@contextlib.contextmanager
def serving(*arguments):
    """Start `tensorwrapper serve`, and give the process and what it said when it was ready."""
    words = [sys.executable, "-m", "tensorwrapper", "serve", "--json", *map(str, arguments)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        assert line.startswith('{"command": "serve"'), line + process.stderr.read()
        yield process, json.loads(line)
    finally:
        process.kill()
        process.communicate()
