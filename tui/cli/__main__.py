"""`python -m tui.cli` is the same as `opsroom`."""

import sys

from tui.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
