"""All checks, in the order in which they are told."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from gatewayd.doctor.clock import clock
from gatewayd.doctor.daemon import daemon
from gatewayd.doctor.data_directory import data_directory
from gatewayd.doctor.database import database
from gatewayd.doctor.documents import documents
from gatewayd.doctor.examined import Examined
from gatewayd.doctor.files import files
from gatewayd.doctor.findings import Finding
from gatewayd.doctor.listening import listening
from gatewayd.doctor.mail import mail
from gatewayd.doctor.search import search
from gatewayd.doctor.surroundings import disk, proxy, public_url
from gatewayd.doctor.taxes import taxes
from gatewayd.doctor.webhooks import webhooks


class Check(NamedTuple):
    """One look at something. `about` names it where it could not be finished; its findings may name parts of it."""

    about: str
    look: Callable[[Examined], Iterator[Finding]]


CHECKS: Final = (
    Check("data directory", data_directory),
    Check("disk", disk),
    Check("database", database),
    Check("shared documents", files),
    Check("clock", clock),
    Check("listening", listening),
    Check("proxy", proxy),
    Check("public URL", public_url),
    Check("daemon", daemon),
    Check("tax authority", taxes),
    Check("documents", documents),
    Check("search", search),
    Check("mail", mail),
    Check("webhooks", webhooks),
)
"""Each blocks, some of them for seconds. None changes anything."""
