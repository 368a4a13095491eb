"""What the daemon gives the pages. Imports nothing heavy: pages are made when the first is asked for."""

from collections.abc import Iterable
from dataclasses import dataclass

from gatewayd.clock import Clock
from gatewayd.console.instance import Instance
from gatewayd.contract.operation import Operation
from gatewayd.http1.log import Log
from gatewayd.mail.notices import Mailing
from gatewayd.papers.public import PublicPapers
from gatewayd.performing.admission import Gate
from gatewayd.performing.file_places import FilePlaces
from gatewayd.performing.performer import Performer
from gatewayd.store import Store
from gatewayd.tax.settings import TaxSettings
from gatewayd.vault_files.receiving import Receiving


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonParts:
    """What the daemon gives the pages. `issuer` is `server.public_url`: the origin, without a slash; `tax` is `[tax]`.

    `operations` are those that pages may call, by `performer`, once `gate` has let the person in.
    `instance` is the daemon itself, as its administrators look at it.
    Files are received at `file_places`, and the bytes of documents go where `receiving` keeps them.
    `papers` are what links of invoices and quotes show; None: no link does.
    `mailing` None: no mail is sent, and everything works by links.
    `gallery`: whether the page of all components is there, which no instance in use has.
    """

    store: Store
    clock: Clock
    log: Log
    issuer: str
    tax: TaxSettings
    operations: Iterable[Operation]
    performer: Performer
    gate: Gate
    instance: Instance
    file_places: FilePlaces
    receiving: Receiving
    mailing: Mailing | None = None
    papers: PublicPapers | None = None
    gallery: bool = False
