"""How much memory the page takes, as the system counts it, and what is decompressed at a time."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.viewer import view
from tests.support.browser import choose, needs_browser
from tests.support.viewer import NODE, call_by_node

MIB = 2**20


def peaks(session):
    """Return the most memory that each process of pages had, by its number."""
    found = session.send("SystemInfo.getProcessInfo")["processInfo"]
    numbers = [own["id"] for own in found if own["type"] == "renderer"]
    texts = {number: Path(f"/proc/{number}/status").read_text() for number in numbers}
    return {number: int(re.search(r"VmHWM:\s+(\d+) kB", text)[1]) * 1024 for number, text in texts.items()}


@needs_browser[0]
@needs_browser[1]
@pytest.mark.skipif(sys.platform != "linux", reason="the system tells it on Linux")
def test_the_page_grows_by_less_than_256_mib(tmp_path, browser, opened):
    path = tmp_path / "large.tens"
    count = 8 * 10**6
    grid = np.arange(count, dtype="f8").reshape(4000, 2000)
    with tw.open(path, "a") as file:
        file["small"] = [1]
        for k in range(3):
            file[f"box{k}"] = grid
            file.append(f"packed{k}", grid // 1000, compress="zlib")
        file["rows"] = tw.from_buffer(grid.reshape(-1), tw.Shape.from_offsets(np.arange(0, count + 1, 4)))
        file["one"] = tw.jagged([grid.reshape(-1)])
        file["sparse"] = tw.sparse(
            np.stack([np.arange(4000), np.arange(4000) % 2000], 1), np.ones(4000), tw.Shape(4000, 2000)
        )
    session = browser.new_browser_cdp_session()
    with view(path) as viewer:
        shown = opened(viewer.address, "large.tens")
        before = peaks(session)
        for name in (
            *(f"{kind}{k}" for k in range(3) for kind in ("box", "packed")),
            "rows",
            "one",
            "sparse",
        ):
            choose(shown, name)
            for key in ("End", "Home", "PageDown"):
                shown.locator("#values").press(key)
            shown.wait_for_timeout(100)
        choose(shown, "box0")
        shown.get_by_role("button", name="Verify").click()
        shown.wait_for_selector("text='The checksums fit.'")
        after = peaks(session)
        assert shown.faults == []
    grown = {number: own - before[number] for number, own in after.items() if number in before}
    assert grown
    assert max(grown.values()) < 256 * MIB, {number: own / MIB for number, own in grown.items()}


@pytest.mark.skipif(NODE is None, reason="Node is not installed")
def test_no_more_than_96_mib_are_decompressed_at_a_time(tmp_path):
    path = tmp_path / "packed.tens"
    tw.save(path, {"x": np.zeros(13 * MIB), "y": np.zeros((13 * MIB, 1), "u1")}, compress="zlib")
    calls = [
        ("x", "array", 0, 13 * MIB),
        ("x", "values", 0, 9 * MIB),
        ("x", "values", 12 * MIB, 12 * MIB + 3),
    ]
    whole, many, few = call_by_node(path, [*calls])
    assert whole["refused"] == many["refused"] == "limit"
    assert few["values"] == [0, 0, 0]
