"""`gatewayd period seal`, `diff` and `verify-bundle`: bundles of closed periods."""

import argparse
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import note, print_document, print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, whole_number
from gatewayd.cli.run_operation import operation_of, run_operation

if TYPE_CHECKING:
    from gatewayd.bundles.engine import Bundles
    from gatewayd.store import Store

Json = dict[str, Any]
PAGE_MAX = 100


class _Deps(NamedTuple):
    """What the operations of bundles are given to work with."""

    bundles: "Bundles"


def add_to(group: Subparsers) -> None:
    """Add the commands to those of periods."""
    command = add_command(group, "seal", "write a closed period into a signed bundle", seal, json=True)
    command.add_argument("id", metavar="ID")
    command.add_argument("--documents", action="store_true", help="with the documents of its entries")
    command.add_argument("--to", metavar="FILE", type=Path, help="a copy of the bundle, which must not be there yet")
    command = add_command(group, "diff", "what differs between seals of a period, or from its books", diff, json=True)
    command.add_argument("id", metavar="ID", help="of the period")
    command.add_argument("--seal", metavar="ID", help="another than the latest")
    command.add_argument("--against", metavar="ID", help="another than the one before it")
    command.add_argument("--books", action="store_true", help="against the books as they are now, as of a first seal")
    command.add_argument("--limit", type=whole_number(1, PAGE_MAX), default=PAGE_MAX, metavar="N", help="rows shown")
    summary = "check a bundle: no store, no network, no settings"
    command = add_command(group, "verify-bundle", summary, verify_bundle, json=True)
    command.add_argument("file", metavar="FILE", type=Path)
    command.add_argument(
        "--key",
        metavar="FINGERPRINT",
        help="of the key that has to have signed it; it may begin with a dash: write --key=FINGERPRINT",
    )


def seal(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.ledger.calendar.periods import PERIODS

    if arguments.to is not None and arguments.to.exists():
        raise CommandError(f"{arguments.to} is there already")
    org_id = context.read(lambda tx: PERIODS.organization_of(tx, arguments.id))
    made = _run(context, org_id, "periods.seal", {"id": arguments.id, "documents": arguments.documents})
    if arguments.to is not None:
        _copy(context, made["sha256"], arguments.to)
    rows = sum(file["rows"] or 0 for file in made["files"])
    lines = [
        f"{made['id']}, number {made['number']}: {rows:,} rows in {len(made['files'])} files.",
        f"Contents {made['contentsSha256']}",
        f"Signed by the key {made['keyFingerprint']}: keep this line apart from the bundle.",
    ]
    print_result(arguments, made, [*lines, *([] if arguments.to is None else [f"The bundle is {arguments.to}."])])
    return 0


def diff(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.ledger.calendar import period_seals
    from gatewayd.ledger.calendar.periods import PERIODS

    org_id = context.read(lambda tx: PERIODS.organization_of(tx, arguments.id))
    last = context.read(lambda tx: period_seals.last_of(tx, arguments.id), org_id)
    if last is None:
        raise CommandError("the period has no seal yet")
    values = {"id": arguments.seal or last.id, "against": arguments.against, "limit": arguments.limit}
    values["books"] = arguments.books
    answer = _run(context, org_id, "periods.sealDifference", values)
    if arguments.json:
        print_document(answer)
        return 0
    cells = [(row["path"], row["id"], row["change"], _difference_text(row)) for row in answer["data"]]
    print_list(arguments, answer["data"], ("file", "id", "change", "what"), cells)
    told = "; ".join(f"{file['path']}: {_counts(file)}" for file in answer["files"]) or "nothing differs"
    note(f"against {answer['against'] or 'the books as they are now'}: {told}")
    return 0


def verify_bundle(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.bundles.archive import BundleFault, verify

    try:
        manifest, fingerprint = verify(arguments.file, arguments.key)
    except BundleFault as fault:
        raise CommandError(str(fault)) from None
    period = manifest.period
    document = {
        "period": period,
        "sealedAt": manifest.sealed_at,
        "contentsSha256": manifest.contents_sha256,
        "keyFingerprint": fingerprint,
        "files": len(manifest.files),
        "keyCompared": arguments.key is not None,
    }
    lines = [
        f"{period.legal_entity_name}, {period.label}: {period.start_date} to {period.end_date}.",
        f"Sealed {manifest.sealed_at}; all {len(manifest.files)} files are as they were signed.",
        f"Signed by the key {fingerprint}",
        *manifest.notes,
    ]
    if arguments.key is None:
        lines.append("Compare that key with the one you were told: with --key this is done here.")
    print_result(arguments, document, lines)
    return 0


def _run(context: Context, org_id: str, operation_id: str, values: Json) -> Json:
    from gatewayd.areas.periods import AREA
    from gatewayd.bundles import HANDLERS

    operation = operation_of(AREA, operation_id, HANDLERS)
    return run_operation(context, operation, org_id, values, lambda store: _deps(context, store))


def _deps(context: Context, store: "Store") -> _Deps:
    from gatewayd.bundles.engine import Bundles

    return _Deps(Bundles(store))


def _copy(context: Context, sha256: str, to: Path) -> None:
    """The file under another name, on disk before it is told of."""
    from gatewayd.store.files.at_place import blobs_at

    try:
        with blobs_at(context.store_settings.place).path(sha256).open("rb") as source, to.open("xb") as file:
            shutil.copyfileobj(source, file)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise CommandError(f"the period is sealed, but {to} cannot be written: {error.strerror or error}") from None


def _difference_text(difference: Json) -> str:
    if difference["change"] != "changed":
        row = difference["after"] or difference["before"]
        return " ".join(
            filter(
                None,
                (
                    row.get(name)
                    for name in ("date", "issueDate", "number", "category", "amount", "grossTotal", "description")
                ),
            )
        )
    before, after = difference["before"], difference["after"]
    return "; ".join(f"{name}: {before.get(name)} -> {after.get(name)}" for name in difference["fields"])


def _counts(file: Json) -> str:
    kinds = [f"{file[name]} {name}" for name in ("added", "removed", "changed") if file[name]]
    return ", ".join(kinds) or "differs"
