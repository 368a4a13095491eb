"""Two daemons in one process share nothing, and on one directory there is but one."""

import io
import json
import os
import secrets
import signal
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
import trio
from psycopg.conninfo import conninfo_to_dict

import gatewayd
from gatewayd.config import load
from gatewayd.daemon.daemon import Daemon, Surroundings
from gatewayd.identity import audit
from gatewayd.identity.key_format import RANDOM_BYTES
from gatewayd.identity.keys import api_keys
from gatewayd.identity.people import memberships, organizations, users
from gatewayd.store import Store, StoreFailure, WriteTx
from gatewayd.store.files.directory import LOCK_NAME
from tests.daemon.instance import SECONDS, Instance, serving
from tests.support.postgres import Server

LIMIT = "[limits]\nrequests_per_minute = 6\n"


def made(directory: Path, settings: str) -> tuple[Instance, Daemon, io.StringIO]:
    directory.mkdir()
    instance, log = Instance(directory, settings), io.StringIO()
    return instance, Daemon(load(instance.config, {}), Surroundings(log_stream=log)), log


async def status(url: str, key: str) -> int:
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=SECONDS) as client:
        answer = await client.get("/api/rpc/invoices", headers={"Authorization": f"Bearer {key}"})
        return answer.status_code


def events(log: io.StringIO) -> list[str]:
    return [json.loads(line)["event"] for line in log.getvalue().splitlines()]


async def test_two_daemons_side_by_side(tmp_path: Path) -> None:
    (first, one, log_one), (second, two, log_two) = await trio.to_thread.run_sync(
        lambda: (made(tmp_path / "one", LIMIT), made(tmp_path / "two", ""))
    )
    firm = await trio.to_thread.run_sync(first.firm)
    other = await trio.to_thread.run_sync(second.firm)
    with trio.fail_after(SECONDS):
        async with trio.open_nursery() as nursery:
            url_one = (await nursery.start(one.run)).addresses[0]
            url_two = (await nursery.start(two.run)).addresses[0]
            assert await status(url_one, firm.key) == 200
            assert await status(url_two, other.key) == 200
            assert await status(url_two, firm.key) == 401
            assert await status(url_one, other.key) == 401
            statuses = [await status(url_one, firm.key) for _ in range(10)]
            assert 429 in statuses
            assert await status(url_two, other.key) == 200
            one.stop()
            await one.ended.wait()
            assert await status(url_two, other.key) == 200
            two.stop()
    assert events(log_one)[-1] == events(log_two)[-1] == "stopped"
    assert events(log_one).count("request") == 12
    assert events(log_two).count("request") == 4


def sharing(directory: Path, address: str) -> Daemon:
    """A daemon on a PostgreSQL, with the instance's key and documents beside its own directory."""
    config, files = directory.with_suffix(".toml"), directory.parent / "files"
    files.mkdir(exist_ok=True)
    config.write_text(
        f'[server]\nbind = ["127.0.0.1:0"]\n[store]\ndirectory = "{directory}"\nkey_file = "{directory.parent}/key"\n'
        f'url = "{address}"\nfiles = "{files}"\n{LIMIT}'
    )
    return Daemon(load(config, {}), Surroundings(log_stream=io.StringIO()))


async def policy(url: str, key: str) -> str:
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=SECONDS) as client:
        answer = await client.get("/api/rpc/invoices", headers={"Authorization": f"Bearer {key}"})
        return answer.headers["ratelimit-policy"]


async def key_of_a_firm(store: Store) -> str:
    def work(tx: WriteTx) -> str:
        org = organizations.create(tx, "Oak & Son", audit.OPERATOR)
        tx.bind(org.id)
        user = users.create(tx, users.NewUser(email="ann@example.com", name="Ann Oak"), audit.OPERATOR)
        memberships.add(tx, user.id, "owner", audit.OPERATOR)
        new = api_keys.NewKey(name="CI", user_id=user.id, scopes=["accounting:read"])
        return api_keys.create(tx, new, secrets.token_bytes(RANDOM_BYTES), audit.OPERATOR).key

    return await store.write(work)


async def test_two_daemons_on_one_database_share_a_limit(tmp_path: Path, postgresql: Server) -> None:
    """The second one tells the share from its start, the first one once it has looked; when one ends, all is left."""
    named = conninfo_to_dict(postgresql.address(postgresql.new_database()))
    address = f"postgresql://{named['user']}@/{named['dbname']}?host={quote(str(named['host']), safe='')}"
    one, two = sharing(tmp_path / "one", address), sharing(tmp_path / "two", address)
    with trio.fail_after(SECONDS):
        async with trio.open_nursery() as nursery:
            first = await nursery.start(one.run)
            key = await key_of_a_firm(first.store)
            assert await policy(first.addresses[0], key) == '"default";q=6;w=60'
            second = await nursery.start(two.run)
            assert await policy(second.addresses[0], key) == '"default";q=3;w=60'
            while await policy(first.addresses[0], key) != '"default";q=3;w=60':
                await trio.sleep(0.1)
            one.stop()
            await one.ended.wait()
            while await policy(second.addresses[0], key) != '"default";q=6;w=60':
                await trio.sleep(0.1)
            two.stop()


async def test_a_daemon_whose_writer_has_ended_ends_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would answer 503 until somebody looked; ended, it is started anew by what supervises it."""
    _, daemon, _ = await trio.to_thread.run_sync(lambda: made(tmp_path / "one", ""))
    with trio.fail_after(SECONDS), pytest.RaisesGroup(pytest.RaisesExc(StoreFailure), flatten_subgroups=True) as ended:
        async with trio.open_nursery() as nursery:
            store = (await nursery.start(daemon.run)).store
            monkeypatch.setattr(store._writer, "write", fail)
            await trio.sleep_forever()
    assert [type(error.__cause__) for error in leaves(ended.value)] == [MemoryError]


def fail(batch: object) -> None:
    """A fault that is no job's and no failure of the disk."""
    raise MemoryError("no room")


def leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in leaves(inner)]
    return [error]


def test_a_second_one_on_the_same_directory_is_refused_by_name(instance: Instance) -> None:
    with serving(instance) as running:
        ran = instance.run("serve")
        assert ran.returncode == 1
        assert ran.stderr == (
            f"gatewayd: gatewayd/{gatewayd.__version__}, process {running.pid}, works with {instance.data}"
            " already: one daemon at a time\n"
        )
        assert running.client.get("/readyz").status_code == 200
        assert instance.run("org", "list").returncode == 0  # commands work beside it
        os.kill(running.pid, signal.SIGKILL)
        assert running.process.wait(SECONDS) == -signal.SIGKILL
    with serving(instance) as running:  # the lock ended with its process
        assert running.end() == 0
    assert (instance.data / LOCK_NAME).stat().st_mode & 0o777 == 0o600


def test_a_directory_that_takes_no_files_is_one_sentence(instance: Instance) -> None:
    directory = instance.data
    directory.mkdir(parents=True, exist_ok=True)
    (directory / LOCK_NAME).mkdir()
    ran = instance.run("serve")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == f"gatewayd: the data directory {directory} cannot be written to: Is a directory\n"
