"""Documents of strangers, read into text, facts and pictures in a child process. Knows no store and no organization."""

from typing import Final

from gatewayd.isolation.starting import Entry

ENTRY: Final = Entry("read-documents", "gatewayd.extraction.worker")
