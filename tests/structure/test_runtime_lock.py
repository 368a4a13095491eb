"""The program runs on what requirements.lock names, on a machine that has neither more packages nor time zones.

But for its PostgreSQL, which asks for `gatewayd[postgresql]`.
"""

import os
import re
import subprocess
import sys

from tests.structure.sources import ROOT

NAMED = re.compile(r"^([A-Za-z0-9._-]+)==", re.MULTILINE)
CHILD = """
import importlib.metadata, pkgutil, re, sys

allowed = set(sys.argv[1].split())
folded = lambda name: re.sub("[-_.]+", "-", name).lower()
here = importlib.metadata.packages_distributions()
refused = {top for top, owners in here.items() if not allowed.intersection(map(folded, owners))}

class OnlyTheLock:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in refused:
            raise ModuleNotFoundError(f"{name} is not in requirements.lock", name=name)

sys.meta_path.insert(0, OnlyTheLock())
import gatewayd
for module in pkgutil.walk_packages(gatewayd.__path__, "gatewayd."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            beside = module.name == "gatewayd.store.copying.both_ways"
            if not ((beside or module.name.startswith("gatewayd.store.postgres.")) and error.name == "psycopg"):
                raise
from gatewayd.clock import from_wire, london_date
print(london_date(from_wire("2026-07-31T23:30:00Z")), london_date(from_wire("2026-12-31T23:30:00Z")), len(refused))
"""


def test_every_module_runs_on_the_runtime_lock_without_zones_of_the_system() -> None:
    names = {re.sub("[-_.]+", "-", name).lower() for name in NAMED.findall((ROOT / "requirements.lock").read_text())}
    environment = {**os.environ, "PYTHONTZPATH": "", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", CHILD, " ".join(sorted({*names, "gatewayd"}))]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    summer, winter, refused = ran.stdout.split()
    assert (summer, winter) == ("2026-08-01", "2026-12-31")
    assert int(refused) > 20  # what only the tests need is here, and was out of reach
