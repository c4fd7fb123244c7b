"""Settings shared by all tests."""

import gc
import os

from hypothesis import HealthCheck, settings

# dev: quick feedback. ci: what the suite runs. nightly: a long search, `HYPOTHESIS_PROFILE=nightly`.
_SLOW = [HealthCheck.too_slow]
settings.register_profile("dev", max_examples=50, deadline=None, suppress_health_check=_SLOW)
settings.register_profile(
    "ci", max_examples=100, deadline=None, suppress_health_check=_SLOW, derandomize=True
)
settings.register_profile("nightly", max_examples=5000, deadline=None, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))


def pytest_collection_finish() -> None:
    """Keep tens of thousands of collected tests out of every collection of garbage."""
    gc.collect()
    gc.freeze()
