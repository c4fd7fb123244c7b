"""Whether tests search for hours, as in `.ci/long`, or briefly, as in the suite."""

import os
from typing import Final

__all__ = ["IS_LONG"]

IS_LONG: Final = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
