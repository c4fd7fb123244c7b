"""Settings shared by all tests."""

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

# dev: an answer while one waits. ci: what the suite runs. nightly: a long search.
_SLOW = [HealthCheck.too_slow]
settings.register_profile("quick", max_examples=5, deadline=None, suppress_health_check=_SLOW)
settings.register_profile("dev", max_examples=50, deadline=None, suppress_health_check=_SLOW)
settings.register_profile(
    "ci", max_examples=100, deadline=None, suppress_health_check=_SLOW, derandomize=True
)
settings.register_profile("nightly", max_examples=5000, deadline=None, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that take longest, so that none of them is left alone at the end."""
    items.sort(key=lambda item: item.get_closest_marker("static") is None)


def pytest_collection_finish() -> None:
    """Keep tens of thousands of collected tests out of every collection of garbage."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Let `pytest -n` give each process a run of neighbours, and whoever is done half of another's rest."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.option.dist == "load" else None
