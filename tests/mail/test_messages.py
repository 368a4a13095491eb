"""Messages: nobody's name makes a header, whatever it holds, and what is said arrives as it was said."""

import email
from email import policy
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.clock import Instant, from_wire
from gatewayd.contract.given_files import WrittenFile
from gatewayd.mail.letters import SUBJECT_MAX, Action, Letter, one_line
from gatewayd.mail.messages import AddressError, Outgoing, address_for_smtp, make_envelope

AT: Instant = from_wire("2026-11-20T09:30:00Z")
HEADERS = [
    "from",
    "to",
    "subject",
    "date",
    "message-id",
    "auto-submitted",
    "x-auto-response-suppress",
    "mime-version",
    "content-type",
]
ANYTHING = st.text(max_size=300) | st.text(alphabet='Aé\r\n\t :;<>@"\\=?,\u2028\u202e\x00', max_size=300)


def outgoing(letter: Letter, name: str = "", recipient: str = "ann@example.com") -> Outgoing:
    return Outgoing("mail_01m8edegqpcryh4ts7k2bcpkxs", AT, recipient, name, letter)


def parsed(content: bytes) -> EmailMessage:
    message = email.message_from_bytes(content, policy=policy.default)
    assert message.defects == []
    return message


def body(message: EmailMessage, kind: str) -> str:
    part = message.get_body((kind,))
    assert part is not None
    return str(part.get_content())


@given(ANYTHING, ANYTHING, ANYTHING, ANYTHING)
def test_no_text_makes_a_header_or_a_line_of_its_own(name: str, subject: str, said: str, sender_name: str) -> None:
    letter = Letter(subject=subject, paragraphs=(said,), facts=((said, said),), reason=said)
    content = make_envelope(outgoing(letter, name), "books@gatewayd.example", sender_name).content
    message = parsed(content)
    assert [each.lower() for each in message] == HEADERS
    assert content.isascii()
    assert all(len(line) <= 998 for line in content.split(b"\r\n"))  # RFC 5322 §2.1.1
    assert b"\n" not in content.replace(b"\r\n", b"")
    [to] = message["To"].addresses
    assert (to.username, to.domain) == ("ann", "example.com")
    [sender] = message["From"].addresses
    assert (sender.username, sender.domain) == ("books", "gatewayd.example")
    assert [part.get_content_type() for part in message.walk()] == [
        "multipart/alternative",
        "text/plain",
        "text/html",
    ]
    shown = one_line(said)
    assert " ".join(body(message, "plain").split()).count(shown) >= 1
    assert "<script" not in body(message, "html")


@given(st.text(max_size=60))
def test_what_is_html_in_a_name_is_shown_as_text(said: str) -> None:
    letter = Letter(subject="A", paragraphs=(f"<b>{said}</b><script>1</script>",), reason="R")
    html = body(parsed(make_envelope(outgoing(letter), "a@b.example", "").content), "html")
    assert "<b>" not in html
    assert "<script>" not in html


def test_a_long_link_is_one_line() -> None:
    link = f"https://books.example/sign-in/reset/{'x' * 200}"
    letter = Letter(subject="A", paragraphs=("B.",), action=Action("Set a new password", link), reason="R")
    message = parsed(make_envelope(outgoing(letter), "a@b.example", "B").content)
    assert link in body(message, "plain").splitlines()


def test_a_mail_is_the_same_at_each_attempt() -> None:
    letter = Letter(subject="A", paragraphs=("B.",), reason="R")
    one, other = (make_envelope(outgoing(letter), "a@b.example", "B") for _ in range(2))
    assert one == other
    message = parsed(one.content)
    assert message["Date"].datetime.isoformat() == "2026-11-20T09:30:00+00:00"
    assert message["Message-ID"] == "<mail_01m8edegqpcryh4ts7k2bcpkxs@b.example>"


def test_a_long_subject_ends_in_an_ellipsis() -> None:
    assert one_line("word " * 100, SUBJECT_MAX).endswith("word…")
    assert len(one_line("word " * 100, SUBJECT_MAX)) <= SUBJECT_MAX
    assert one_line("Oak\r\nBcc: eve@x.example\u202e") == "Oak Bcc: eve@x.example"


@pytest.mark.parametrize(
    ("given_address", "wanted"),
    [
        ("ann@example.com", ("ann@example.com", False)),
        (" ann+x@Example.COM ", ("ann+x@example.com", False)),
        ("ann@bücher.example", ("ann@xn--bcher-kva.example", False)),
        ("jörg@example.com", ("jörg@example.com", True)),
    ],
)
def test_addresses_are_told_as_servers_want_them(given_address: str, wanted: tuple[str, bool]) -> None:
    assert address_for_smtp(given_address) == wanted


@pytest.mark.parametrize(
    "address", ["ann", "@example.com", "ann@", "a b@example.com", "a>b@example.com", "a\r\nRCPT@x.example", "a@b@c"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(AddressError):
        address_for_smtp(address)


@given(st.text(max_size=80))
def test_no_address_makes_a_command_of_its_own(text: str) -> None:
    try:
        address, _ = address_for_smtp(text)
    except AddressError:
        return
    assert address.isprintable()
    assert not set(' <>"\r\n') & set(address)


def test_a_paper_goes_along_and_the_addresses_are_shown() -> None:
    letter = Letter(
        subject="Invoice",
        paragraphs=("Here it is.",),
        reason="R",
        from_name="Oak & Son",
        reply_to="books@oak.example",
        to=("ann@example.com", "bob@example.com"),
        cc=("cat@example.com", "no address"),
        paper="inv_1",
    )
    file = WrittenFile(b"%PDF-1.7\n\x00\xff", "INV-1.pdf", "application/pdf")
    made = outgoing(letter)._replace(attachment=file)
    content = make_envelope(made, "books@gatewayd.example", "Books").content
    assert content == make_envelope(made, "books@gatewayd.example", "Books").content  # the same at each attempt
    message = parsed(content)
    assert (str(message["From"]), str(message["To"])) == (
        "Oak & Son <books@gatewayd.example>",
        "ann@example.com, bob@example.com",
    )
    assert (str(message["Cc"]), str(message["Reply-To"])) == ("cat@example.com", "books@oak.example")
    [attached] = message.iter_attachments()
    assert (attached.get_content(), attached.get_filename()) == (file.content, "INV-1.pdf")
    assert attached.get_content_type() == "application/pdf"
    assert "Here it is." in body(message, "plain")


@given(ANYTHING, ANYTHING)
def test_no_address_that_is_shown_makes_a_header(name: str, address: str) -> None:
    letter = Letter(subject="S", paragraphs=(), reason="R", from_name=name, reply_to=address, to=(address,), cc=(name,))
    message = parsed(make_envelope(outgoing(letter), "books@gatewayd.example", "Books").content)
    assert {each.lower() for each in message} <= {*HEADERS, "cc", "reply-to"}
    assert all(len(message.get_all(each)) == 1 for each in message)
