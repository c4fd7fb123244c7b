"""``python -m tensorwrapper``: the command line."""

import sys

from tensorwrapper.cli import main

if __name__ == "__main__":
    sys.exit(main())
