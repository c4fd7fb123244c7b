"""Settings shared by all tests."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
PROCESS = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
"""The number of this process among those of `-n`."""
QUICK = ["extending", "contracts", "selection/execution/test_trees", "selection/optimizer/test_random_trees"]
"""Folders and files of `--quick` beside the files that stand right below a floor."""

# quick: an answer while one waits. day: what the suite runs, the same examples each time, so that whoever is
# told of a failure sees it too. nightly: a long search, others each time; what it finds becomes a test.
_SLOW = [HealthCheck.too_slow]
settings.register_profile("quick", max_examples=5, deadline=None, suppress_health_check=_SLOW)
settings.register_profile(
    "day", max_examples=20, deadline=None, suppress_health_check=_SLOW, derandomize=True
)
settings.register_profile("nightly", max_examples=5000, deadline=None, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "day"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--quick`."""
    parser.addoption("--quick", action="store_true", help="an answer in about five minutes: a selection")


def pytest_configure(config: pytest.Config) -> None:
    """Draw few examples where an answer shall be quick; let what is compiled be kept.

    Each process of `-n` compiles a thousand files, and the tests start hundreds of interpreters.
    """
    if config.getoption("quick"):
        settings.load_profile("quick")
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_collection() -> None:
    """Collect no garbage while tests are collected: they are all needed."""
    gc.disable()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Let each process of `-n` begin with other files, so that it finds the rest compiled by the others."""
    report = yield
    if PROCESS and isinstance(collector, pytest.Session | pytest.Directory):
        begin = len(report.result) * int(PROCESS) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        report.result = report.result[begin:] + report.result[:begin]
    return report


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the rooms, the guides and the docstrings where an answer shall be quick."""
    if not config.getoption("quick") or collection_path.is_dir():
        return None
    if collection_path.name in {"README.md", "tour.md"}:
        return None
    if not collection_path.is_relative_to(TESTS):
        return True
    place = collection_path.relative_to(TESTS)
    return None if len(place.parts) == 2 or str(place).startswith(tuple(QUICK)) else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the tests that take longest, so that none of them is left alone at the end.

    All processes of `-n` must have the same order.
    """
    if config.getoption("quick"):
        quick = [
            item for item in items if not {"slow", "static"} & {mark.name for mark in item.iter_markers()}
        ]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(quick)])
        items[:] = quick
    items.sort(key=lambda item: (item.get_closest_marker("static") is None, PROCESS and item.path))


def pytest_collection_finish() -> None:
    """Keep tens of thousands of collected tests out of every collection of garbage."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Let `-n auto` begin one process more than there are cores: tests of sockets and links mostly wait."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Let `pytest -n` give each process a run of neighbours, and whoever is done half of another's rest."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.option.dist == "load" else None


@pytest.fixture(autouse=True, scope="session")
def interruptible():
    """Let children hear SIGINT, also where the tests were started in the background, which ignores it."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, before)
