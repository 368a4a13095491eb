"""Schemathesis reads the description and asks for everything in it, rightly and wrongly."""

import os
import subprocess
import sys
from pathlib import Path

from tests.daemon.conftest import Shared, shared
from tests.daemon.instance import environment

__all__ = ["shared"]

EXAMPLES = int(os.environ.get("GATEWAYD_EXAMPLES", "3"))  # of each operation
SEED = 20_261_120
# positive_data_acceptance stays out: JSON Schema cannot say what several fields mean together, or which ids exist.
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
)
# What is too long to be read is refused with 414 before it is looked at, which Schemathesis does not expect by itself.
REFUSALS = ["400", "401", "403", "404", "405", "406", "409", "414", "415", "422", "428", "429", "5xx"]
LONGEST_SECONDS = 600 + 60 * EXAMPLES  # nothing is measured with it


def test_every_answer_is_as_described(shared: Shared, tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("schemathesis")
    url = shared.running.url
    settings = f"[checks.negative_data_rejection]\nexpected-statuses = {REFUSALS}\n"
    (tmp_path / "schemathesis.toml").write_text(settings, "utf-8")
    command = [str(program), "run", f"{url}/openapi.json", "--url", f"{url}/api/rpc"]
    command += ["--header", f"Authorization: Bearer {shared.firm.key}", "--checks", ",".join(CHECKS)]
    command += ["--phases", "examples,fuzzing", "--max-examples", str(EXAMPLES), "--seed", str(SEED), "--no-color"]
    ran = subprocess.run(
        command,
        env=environment(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=LONGEST_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-8000:] + ran.stderr[-2000:]
    assert "18/18" in ran.stdout or "Tested:" in ran.stdout
