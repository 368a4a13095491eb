"""Mails on their way to a real SMTP server: what it says, what becomes of them, and over which connection."""

import contextlib
from pathlib import Path
from typing import Any

import pytest
import trio
import trustme

from gatewayd.mail.outbox import list_attempts
from gatewayd.mail.smtp import SmtpError, SmtpServer
from tests.mail.harness import LINK, mail_settings, new_mail, post
from tests.mail.serving import mail_server


async def test_a_mail_arrives_in_text_and_html(tmp_path: Path) -> None:
    with mail_server(tmp_path / "smtp") as server:
        async with post(tmp_path / "data") as desk, desk.sending(mail_settings(server.port)):
            [id_] = await desk.queue(new_mail("ann@example.com", recipient_name="Ann Oak"))
            mail = await desk.until(id_)
            assert (mail.status, mail.attempts, mail.last_code) == ("sent", 1, 250)
            sealed = await desk.store.read(lambda tx: tx.value("SELECT letter_sealed FROM mails"))
            assert sealed == b""  # what it says is gone
        [taken] = server.taken()
    message = taken.message
    assert (taken.to, taken.sender) == ("ann@example.com", "books@gatewayd.example")
    assert message["To"] == "Ann Oak <ann@example.com>"
    assert message["From"] == "Oak & Son <books@gatewayd.example>"
    assert message["Subject"] == "Set a new password"
    assert message["Auto-Submitted"] == "auto-generated"
    assert taken.message_id == f"<{id_}@gatewayd.example>"
    assert LINK in taken.text()
    assert f'href="{LINK}"' in taken.text("html")
    assert taken.content.isascii()
    assert max(map(len, taken.content.split(b"\r\n"))) <= 998  # RFC 5322 §2.1.1


async def test_what_the_server_says_decides(tmp_path: Path) -> None:
    with mail_server(tmp_path / "smtp") as server:
        async with post(tmp_path / "data") as desk, desk.sending(mail_settings(server.port)):
            later, gone, spam, close, drop = await desk.queue(
                *map(new_mail, ("temp2-a@x.example", "gone-b@x.example", "spam-c@x.example", "close-d@x.example")),
                new_mail("drop-e@x.example"),
            )
            told = {id_: await desk.until(id_) for id_ in (later, gone, spam, drop)}
            assert (told[later].status, told[later].attempts) == ("sent", 3)
            assert (told[gone].status, told[gone].attempts, told[gone].last_code) == ("bounced", 1, 550)
            assert told[gone].last_error == "5.1.1 Nobody here by that name"
            assert (told[spam].status, told[spam].attempts, told[spam].last_code) == ("failed", 1, 554)
            # What the server quotes of the link is not kept, and not logged.
            assert told[spam].last_error == "5.7.1 We do not like https://books.example/sign-in/reset/[hidden]"
            # It was taken before the connection broke: sent again, with the same Message-ID.
            assert (told[drop].status, told[drop].attempts) == ("sent", 2)
            attempts = await desk.store.read(lambda tx: list_attempts(tx, later))
            assert [(each.number, each.outcome, each.code) for each in attempts] == [
                (1, "retried", 451),
                (2, "retried", 451),
                (3, "sent", 250),
            ]
            closed = await desk.until(close, lambda mail: mail.attempts >= 2)
            assert closed.status == "queued"
        ids = [each.message_id for each in server.taken() if each.to.startswith("drop-")]
        assert len(ids) == 2
        assert len(set(ids)) == 1
    logged = repr(desk.log.lines)
    assert "x.example" not in logged
    assert LINK.rpartition("/")[2] not in logged


async def test_a_server_that_hangs_holds_up_no_other_mail(tmp_path: Path) -> None:
    with mail_server(tmp_path / "smtp") as server:
        settings = mail_settings(server.port, timeout_seconds=1.0, first_retry_seconds=30.0)
        async with post(tmp_path / "data") as desk, desk.sending(settings):
            bad, good = await desk.org(), await desk.org()
            hanging = await desk.queue(*[new_mail(f"hang-{n}@x.example", bad) for n in range(4)])
            await desk.until(hanging[0], lambda mail: mail.attempts == 1)
            flowing = await desk.queue(*[new_mail(f"ann{n}@example.com", good) for n in range(5)])
            for id_ in flowing:
                assert (await desk.until(id_)).status == "sent"
            mail = await desk.until(hanging[0], lambda mail: mail.last_error is not None)
            assert mail.last_error == "The server did not answer in time."
            assert (mail.status, mail.last_code) == ("queued", None)


async def test_a_stop_leaves_what_it_cuts_short_due_at_once(tmp_path: Path) -> None:
    with mail_server(tmp_path / "smtp") as server:
        async with post(tmp_path / "data") as desk:
            async with desk.sending(mail_settings(server.port, stop_seconds=0.2)):
                [id_] = await desk.queue(new_mail("hang-a@x.example"))
                await desk.until(id_, lambda mail: mail.attempts == 1)
            mail = await desk.find(id_)
            assert (mail.status, mail.last_error) == ("queued", "We were stopped meanwhile.")
            assert mail.due_at is not None
            assert mail.due_at <= desk.clock.now()
            [attempt] = await desk.store.read(lambda tx: list_attempts(tx, id_))
            assert (attempt.outcome, attempt.code) == ("interrupted", None)


async def test_what_fails_on_our_side_is_told_and_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no template")

    monkeypatch.setattr("gatewayd.mail.dispatcher.make_envelope", fail)
    async with post(tmp_path / "data") as desk, desk.sending(mail_settings(25)):
        [id_] = await desk.queue(new_mail("ann@example.com"))
        mail = await desk.until(id_, lambda mail: mail.last_error is not None)
        assert (mail.status, mail.last_error) == ("queued", "It failed on our side: the log says more.")
        assert "mail_failed_here" in desk.log


async def test_a_server_that_trickles_is_left_when_its_time_is_over(tmp_path: Path) -> None:
    """Each line in time, and never an end: all of an attempt has its deadline."""

    async def trickle(stream: trio.SocketStream) -> None:
        with trio.move_on_after(60):
            await stream.send_all(b"220-hello\r\n")
            while True:
                await stream.send_all(b"220-still\r\n")
                await trio.sleep(0.05)

    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listeners[0].socket.getsockname()[1]
    async with trio.open_nursery() as nursery:

        async def handle(stream: trio.SocketStream) -> None:
            with contextlib.suppress(trio.BrokenResourceError):
                await trickle(stream)

        nursery.start_soon(trio.serve_listeners, handle, listeners)
        server = SmtpServer(mail_settings(port, timeout_seconds=0.3))
        with pytest.raises(SmtpError, match="did not answer in time"):
            await server.greet()
        nursery.cancel_scope.cancel()


async def test_sessions_are_used_again(tmp_path: Path) -> None:
    with mail_server(tmp_path / "smtp") as server:
        async with post(tmp_path / "data") as desk, desk.sending(mail_settings(server.port, connections=1)):
            ids = await desk.queue(*[new_mail(f"ann{n}@example.com") for n in range(60)])
            for id_ in ids:
                assert (await desk.until(id_)).status == "sent"
        taken = server.taken()
    assert len(taken) == 60
    assert len({each.session for each in taken}) == 2  # fifty by one, and the rest by another


async def test_one_that_the_server_ended_meanwhile_is_opened_anew(tmp_path: Path) -> None:
    with mail_server(tmp_path / "smtp") as server:
        port = server.port
        async with post(tmp_path / "data") as desk, desk.sending(mail_settings(port)):
            [first] = await desk.queue(new_mail("ann@example.com"))
            await desk.until(first)
            server.process.kill()
            server.process.wait(30)
            with mail_server(tmp_path / "smtp", port=port):
                [second] = await desk.queue(new_mail("bob@example.com"))
                mail = await desk.until(second)
                assert (mail.status, mail.attempts) == ("sent", 1)


async def test_a_server_that_is_away_is_not_tried_for_each_mail(tmp_path: Path) -> None:
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listeners[0].socket.getsockname()[1]
    await listeners[0].aclose()
    async with post(tmp_path / "data") as desk, desk.sending(mail_settings(port)):
        ids = await desk.queue(*[new_mail(f"ann{n}@example.com") for n in range(20)])
        with trio.fail_after(30):
            while "mail_server_in_trouble" not in desk.log:
                await trio.sleep(0.02)
        mails = [await desk.find(id_) for id_ in ids]
        assert sum(mail.attempts for mail in mails) <= 4  # as many as were under way at once
        with mail_server(tmp_path / "smtp", port=port):
            for id_ in ids:
                assert (await desk.until(id_)).status == "sent"
        assert "mail_server_answers_again" in desk.log


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder, authority = tmp_path_factory.mktemp("tls"), trustme.CA()
    issued = authority.issue_cert("127.0.0.1", "mail.test")
    paths = {name: str(folder / f"{name}.pem") for name in ("ca", "certificate", "key")}
    authority.cert_pem.write_to_path(paths["ca"])
    issued.cert_chain_pems[0].write_to_path(paths["certificate"])
    issued.private_key_pem.write_to_path(paths["key"])
    return paths


@pytest.mark.parametrize("security", ["starttls", "tls"])
async def test_encrypted_and_signed_in(tmp_path: Path, certificate: dict[str, str], security: str) -> None:
    password = tmp_path / "password"
    password.write_text("a pass word\n")
    more: dict[str, Any] = {security: True, "user": "gatewayd", "password": "a pass word"}
    given = {"certificate": certificate["certificate"], "key": certificate["key"], **more}
    with mail_server(tmp_path / "smtp", **given) as server:
        settings = mail_settings(
            server.port, security=security, ca_file=certificate["ca"], user="gatewayd", password_file=str(password)
        )
        async with post(tmp_path / "data") as desk, desk.sending(settings):
            [id_] = await desk.queue(new_mail("ann@example.com"))
            assert (await desk.until(id_)).status == "sent"
        [taken] = server.taken()
        assert taken.tls
        assert taken.user
        await SmtpServer(settings).greet()
        password.write_text("another\n")
        with pytest.raises(SmtpError, match=r"(?i)authentication"):
            await SmtpServer(settings).greet()
        with pytest.raises(SmtpError, match="certificate is not good"):
            await SmtpServer(mail_settings(server.port, security=security)).greet()


async def test_nothing_is_sent_in_the_clear_where_starttls_is_wanted(tmp_path: Path) -> None:
    with mail_server(tmp_path / "smtp") as server:
        async with (
            post(tmp_path / "data") as desk,
            desk.sending(mail_settings(server.port, security="starttls", user="ann", password_file="/nonexistent")),
        ):
            [id_] = await desk.queue(new_mail("ann@example.com"))
            mail = await desk.until(id_, lambda mail: mail.last_error is not None)
        assert mail.last_error == "The server offers no STARTTLS, and nothing is sent without it."
        assert server.taken() == []


async def test_addresses_in_other_letters(tmp_path: Path) -> None:
    with mail_server(tmp_path / "smtp") as plain, mail_server(tmp_path / "utf8", utf8=True) as knowing:
        async with post(tmp_path / "data") as desk:
            async with desk.sending(mail_settings(plain.port)):
                local, host = await desk.queue(new_mail("jörg@example.com"), new_mail("ann@bücher.example"))
                told = await desk.until(local)
                assert told.status == "bounced"
                assert told.last_error == "The server takes no address with letters outside ASCII."
                assert (await desk.until(host)).status == "sent"
            async with desk.sending(mail_settings(knowing.port)):
                [id_] = await desk.queue(new_mail("jörg@example.com", recipient_name="Jörg"))
                assert (await desk.until(id_)).status == "sent"
        assert [each.to for each in plain.taken()] == ["ann@xn--bcher-kva.example"]
        [taken] = knowing.taken()
        assert taken.to == "jörg@example.com"
        assert taken.message["To"] == "Jörg <jörg@example.com>"
