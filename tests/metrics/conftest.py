"""The API over the probe rows, whose numbers are told."""

from tests.http.conftest import open_probes as open_probes
