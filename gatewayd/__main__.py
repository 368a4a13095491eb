"""`python -m gatewayd`: the same as the `gatewayd` command."""

import sys

from gatewayd.cli import main

if __name__ == "__main__":
    sys.exit(main())
