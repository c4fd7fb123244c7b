"""Processes that wait for tensors, started as a user does, and always ended."""

import contextlib
import json
import subprocess
import sys


@contextlib.contextmanager
def receiving(file, *arguments, address="tcp://127.0.0.1:*"):
    """Start `tensorwrapper recv`, and give the process and where it waits."""
    words = [
        sys.executable,
        "-m",
        "tensorwrapper",
        "recv",
        address,
        str(file),
        "--json",
        *map(str, arguments),
    ]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        assert line.startswith('{"command": "recv"'), line + process.stderr.read()
        yield process, json.loads(line)["address"]
    finally:
        process.kill()
        process.communicate()
