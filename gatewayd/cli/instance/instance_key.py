"""`gatewayd instance-key`: replace the key that seals secrets, and go on without one that is lost."""

import argparse
from typing import TYPE_CHECKING

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import note, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group

if TYPE_CHECKING:
    from gatewayd.store import Store
    from gatewayd.store.sealer import Sealer
    from gatewayd.store.sealing.sealed_columns import SealedValue
    from gatewayd.store.sealing.sealed_rows import SealedRows


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of the instance key."""
    group = add_group(subparsers, "instance-key", "the key that seals secrets at rest")
    add_command(group, "rotate", "seal every secret under a new key; not beside a daemon", rotate, json=True)
    command = add_command(
        group, "abandon", "give up what does not open with the key, or all if it is lost", abandon, json=True
    )
    command.add_argument("--yes", action="store_true", help="do it; otherwise it is only told what would be lost")


def rotate(arguments: argparse.Namespace, context: Context) -> int:
    """The key of until then is kept beside the new one."""
    from gatewayd.store.files.directory import locked
    from gatewayd.store.sealed_rows import sealed_rows_of
    from gatewayd.store.sealing import instance_key

    context.require_database()
    command = "gatewayd instance-key rotate"
    with locked(context.store_settings.directory, command):
        rows = sealed_rows_of(context.store_settings)
        rows.require_alone(command)
        done = instance_key.rotate(rows, context.key_file, context.clock.now())
    document = {"file": str(context.key_file), "resealed": done.secrets, "previous": str(done.kept)}
    print_result(arguments, document, [f"{context.key_file} is another key; sealed anew: {done.secrets}."])
    if context.store_settings.url:
        note(
            f"copy {context.key_file} to every other host before a daemon starts there: the one that it has is refused"
        )
    note(f"keep a copy of the new key elsewhere; {done.kept} is for backups made until now: delete it with the last")
    return 0


def abandon(arguments: argparse.Namespace, context: Context) -> int:
    """Beside no daemon. What opens with the key that is there stays; a key that is missing is made."""
    from gatewayd.store.files.directory import locked

    context.require_database()
    with locked(context.store_settings.directory, "gatewayd instance-key abandon"):
        told = _abandon(arguments, context)
    document = {"file": str(context.key_file), "givenUp": told}
    print_result(arguments, document, [f"Given up: {sentence}." for sentence in told] or ["Every secret opens."])
    return 0


def _abandon(arguments: argparse.Namespace, context: Context) -> list[str]:
    """Raises `CommandError` that names what would be lost, where nobody said that it may be."""
    import trio

    from gatewayd.cli.instance import lost_secrets
    from gatewayd.store.database import open_sealed_store
    from gatewayd.store.sealed_rows import sealed_rows_of

    rows = sealed_rows_of(context.store_settings)
    rows.require_alone("gatewayd instance-key abandon")
    sealer, lost = _lost(context, rows, makes_key=arguments.yes)

    async def work(store: "Store") -> list[str]:
        told = await store.read_later(lambda tx: lost_secrets.sentences(tx, lost), None)
        if told and not arguments.yes:
            raise CommandError("\n".join([*told, "nothing was changed: --yes gives up what is listed"]))
        await store.write(lambda tx: lost_secrets.give_up(tx, lost))
        return told

    async def run() -> list[str]:
        async with open_sealed_store(context.store_settings, context.clock, sealer, context.reactions) as store:
            return await work(store)

    told = trio.run(run)
    if context.key_file.exists():  # or nothing was sealed with what stands for it
        rows.note_key(sealer)
    return told


def _lost(context: Context, rows: "SealedRows", *, makes_key: bool) -> "tuple[Sealer, list[SealedValue]]":
    """The key that everything is to open with, and what does not; one that is missing is made only if `makes_key`."""
    import secrets

    from gatewayd.store import StoreFailure
    from gatewayd.store.sealer import KEY_BYTES, Sealer, load_key, read_key
    from gatewayd.store.sealing.instance_key import closed_values, open_key

    path = context.key_file
    try:
        sealer = open_key(rows, path)  # which finishes a rotation that was cut short
    except StoreFailure:
        try:
            sealer = Sealer(load_key(path) if makes_key else read_key(path))
        except FileNotFoundError:
            sealer = Sealer(secrets.token_bytes(KEY_BYTES))
    lost, _ = closed_values(rows, sealer)
    return sealer, lost
