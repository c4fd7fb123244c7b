"""The viewer's page in Chromium, as Playwright drives it: what tests do with it and look at."""

import importlib.util
import shutil
from typing import Any, Final

import pytest

__all__ = ["CHROMIUM", "HAS_BROWSER", "OPTIONS", "choose", "names_of", "needs_browser", "rows_of", "slow"]

CHROMIUM: Final = shutil.which("chromium")
OPTIONS: Final = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
HAS_BROWSER: Final = CHROMIUM is not None and importlib.util.find_spec("playwright") is not None
needs_browser: Final = [
    pytest.mark.slow,
    pytest.mark.skipif(not HAS_BROWSER, reason=".ci/browser installs Chromium and Playwright"),
]


def rows_of(shown: Any) -> list[list[str]]:
    """Return the rows of the grid: the number of each, and its cells."""
    return [row.inner_text().split("\n") for row in shown.get_by_role("row").all()]


def names_of(shown: Any) -> list[str]:
    """Return the names in the list."""
    return [own.inner_text().split("\n")[0] for own in shown.locator("#list").get_by_role("option").all()]


def choose(shown: Any, name: str) -> None:
    """Choose an item of the list, and wait until all of it is drawn."""
    shown.locator("#list").get_by_role("option", name=name).first.click()
    shown.get_by_role("heading", name=name).wait_for()
    shown.wait_for_selector("#values[aria-busy=false]", state="attached")


def slow(shown: Any, milliseconds: int) -> None:
    """Let each request of the page wait."""
    shown.evaluate(
        """wait => {
          const direct = window.fetch;
          window.fetch = async (...all) => {
            await new Promise(resolve => setTimeout(resolve, wait));
            return direct(...all);
          };
        }""",
        milliseconds,
    )
