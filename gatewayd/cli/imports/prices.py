"""`gatewayd import prices`: prices of instruments and rates of exchange, by the path of the API."""

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.imports.engine import received
from gatewayd.cli.imports.files import told_ignored
from gatewayd.cli.output import print_result
from gatewayd.cli.parser import Subparsers, add_command
from gatewayd.cli.run_operation import operation_of, operator_of

if TYPE_CHECKING:
    from gatewayd.importing.prices import PriceImporting
    from gatewayd.store import Store

Json = dict[str, Any]
FETCHED_MAX = 32 << 20  # Chosen: bytes of a file from an address


class _Deps(NamedTuple):
    """What the operation is given to work with."""

    prices: "PriceImporting"


def add_command_to(group: Subparsers) -> None:
    """Add the command to those of imports."""
    help_text = "import prices and rates: a CSV of date, identifier, price and currency"
    command = add_command(group, "prices", help_text, prices, json=True)
    command.add_argument("file", metavar="FILE", type=Path, nargs="?")
    command.add_argument("--url", metavar="URL", help="fetch the file from there; nothing is fetched without it")
    command.add_argument("--org", required=True, metavar="ID")


def prices(arguments: argparse.Namespace, context: Context) -> int:
    import msgspec

    from gatewayd.areas.assets import AREA
    from gatewayd.contract.wire import encode
    from gatewayd.identity.people import organizations
    from gatewayd.importing.prices import HANDLERS, PriceImporting
    from gatewayd.performing.performer import Performer
    from gatewayd.performing.prepared import prepare
    from gatewayd.statements.child import reader_of

    if (arguments.file is None) == (arguments.url is None):
        raise CommandError("Give a file, or its address with --url.")
    if arguments.url is not None:
        with tempfile.TemporaryDirectory(prefix="gatewayd-") as directory:
            arguments.file = _fetched(arguments.url, context, Path(directory) / "prices.csv")
            arguments.url = None
            return prices(arguments, context)
    file = received(arguments.file)
    if file.size_bytes > context.config.banking.max_import_bytes:
        raise CommandError(f"{arguments.file} is larger than {context.config.banking.max_import_bytes} bytes.")
    operation = operation_of(AREA, "assets.importPrices", HANDLERS)
    request = prepare(operation).decoder.body(msgspec.json.encode({"fileName": arguments.file.name[:255]}))

    async def perform(store: "Store") -> object:
        await store.read(lambda tx: organizations.get(tx, arguments.org), arguments.org)
        importing = PriceImporting(store, reader_of(context.environ), context.config.banking.max_import_bytes)
        performer = Performer(store, _Deps(importing))
        return await performer.perform(operation, operator_of(arguments.org), request, None, file)

    told = msgspec.json.decode(encode(context.run(perform)), type=Json)
    print_result(arguments, _document(told), _import_lines(told))
    return 0


def _fetched(url: str, context: Context, path: Path) -> Path:
    """The file from an address, where it was put. Networks that receivers may be in are allowed here too."""
    import trio

    from gatewayd import __version__
    from gatewayd.outbound.addresses import parse_networks
    from gatewayd.outbound.downloads import download
    from gatewayd.outbound.errors import OutboundError
    from gatewayd.outbound.transport import GuardedTransport, Policy

    policy = Policy(allow_networks=parse_networks(context.config.webhooks.allow_networks))
    largest = min(FETCHED_MAX, context.config.banking.max_import_bytes)

    async def fetch() -> bytes:
        return await download(GuardedTransport(policy), url, largest, f"gatewayd/{__version__}")

    try:
        path.write_bytes(trio.run(fetch))
    except OutboundError as error:
        raise CommandError(f"{url} cannot be fetched: {error.detail}") from None
    except OSError as error:
        raise CommandError(f"What {url} gave cannot be kept: {error.strerror}") from None
    return path


def _document(told: Json) -> Json:
    """In the form of all imports. Chosen: it has no id, for there is nothing to undo: a day has one price."""
    names = ("rows", "added", "duplicates", "replaced", "ignored", "refused")
    return {"importId": None, "format": "csv", **{name: told[name] for name in names}}


def _import_lines(told: Json) -> list[str]:
    counted = f"{told['added']} added, {told['replaced']} replaced, {told['duplicates']} there already"
    lines = [f"{told['fileName']}: {counted}, {told['refusedRows']} refused."]
    lines += [f"  {told_ignored(ignored)}" for ignored in told["ignored"]]
    return lines + [f"  line {refusal['line']}: {refusal['reason']}" for refusal in told["refused"]]
