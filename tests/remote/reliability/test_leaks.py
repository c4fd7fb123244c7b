"""Whatever is left open when an interpreter ends is warned of, and leaves nothing else on stderr."""

import subprocess
import sys

import pytest

BEGIN = """
import asyncio
import sys
import numpy as np
import tensorwrapper as tw
from tensorwrapper import remote, transport

class Kept: pass

kept = Kept()
kept.kept = kept
sys.modules["kept"] = kept
folder = sys.argv[1]
"""
LEFT_OPEN = {
    "a file that grows": "kept.x = tw.open(f'{folder}/f', 'a'); kept.x.extend('a', np.zeros((1, 2)))",
    "a file that is made": "kept.x = tw.open(f'{folder}/f', 'w')",
    "a file that is read": "tw.save(f'{folder}/f', {'a': np.zeros(3)}); kept.x = tw.open(f'{folder}/f')",
    "a socket": "kept.x = transport.Socket('ROUTER'); kept.x.bind('tcp://127.0.0.1:*')",
    "a server": "kept.x = tw.serve({'a': np.zeros(3)})",
    "a client": "kept.y = tw.serve({'a': np.zeros(3)}); kept.x = tw.connect(kept.y.address); "
    "kept.x['a'][:2].compute()",
    "a tensor of a client": "kept.y = tw.serve({'a': np.zeros(3)}); kept.x = tw.connect(kept.y.address)['a']",
    "a tensor of a client of holders": "kept.y = tw.serve({'a/0': np.zeros(3)}); "
    "parts = remote.Sharding(tw.Tiling([3]), 'f8', [kept.y.address]); "
    "kept.x = remote.connect_shards(remote.Catalogue({'a': parts}))['a']; kept.x.compute()",
    "a tensor of a client of a loop": "kept.y = tw.serve({'a': np.zeros(3)}); "
    "kept.x = asyncio.run(tw.connect_async(kept.y.address).tensor('a'))",
}


@pytest.mark.parametrize("what", LEFT_OPEN)
def test_what_is_left_open_at_the_end_is_warned_of_in_a_line(what, tmp_path):
    program = [sys.executable, "-W", "always", "-c", BEGIN + LEFT_OPEN[what], str(tmp_path)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0
    lines = done.stderr.splitlines()
    assert lines
    assert [line for line in lines if "LeakedResourceWarning" not in line] == []
