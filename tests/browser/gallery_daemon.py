"""`python -m tests.browser.gallery_daemon serve ...`: gatewayd whose pages have that of all components."""

import functools
import sys

import gatewayd.cli
import gatewayd.daemon.daemon

if __name__ == "__main__":
    surroundings = functools.partial(gatewayd.daemon.daemon.Surroundings, gallery=True)
    gatewayd.daemon.daemon.Surroundings = surroundings  # type: ignore[misc,assignment]
    sys.exit(gatewayd.cli.main())
