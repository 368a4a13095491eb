"""Checking of a bundle that anybody may have made or changed: it is bounded, and says in one sentence what is wrong."""

import hashlib
import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from gatewayd.bundles import archive, manifest
from gatewayd.bundles.archive import BundleFault, verify
from gatewayd.bundles.manifest import FORMAT, FileEntry, Manifest, PeriodFacts
from gatewayd.cli import main
from gatewayd.identity.signing import seal_keys
from tests.bundles.conftest import OpenFirm

KEY = seal_keys.generate()
FACTS = PeriodFacts(
    id="per_1",
    type="tax_year",
    label="2025-26",
    start_date="2025-04-06",
    end_date="2026-04-05",
    legal_entity_id="ent_1",
    legal_entity_name="Ash",
    business_id=None,
)
FILES = {"a.csv": b"id\r\n1\r\n", "b.csv": b"id\r\n2\r\n"}


def sealed(files: dict[str, bytes], **changed: object) -> dict[str, bytes]:
    """A bundle as it is sealed, by hand."""
    entries = []
    for path, text in files.items():
        digest = hashlib.sha256(text).hexdigest()
        entries.append(FileEntry(path=path, bytes=len(text), rows=1, sha256=digest))
    made = Manifest(
        format=FORMAT,
        period=FACTS,
        organization_id="org_1",
        sealed_at="2026-11-20T09:30:00.000Z",
        contents_sha256=manifest.contents_digest(entries),
        files=entries,
        notes=[],
    )
    signed = msgspec.json.encode(msgspec.structs.replace(made, **changed))
    signature, key = KEY.sign(signed).encode(), KEY.public.encode()
    return {**files, "manifest.json": signed, "manifest.jws": signature, "key.json": key}


def packed(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, text in files.items():
            out.writestr(name, text)
    return path


def fault(path: Path, fingerprint: str | None = None) -> str:
    with pytest.raises(BundleFault) as raised:
        verify(path, fingerprint)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_a_bundle_as_it_was_sealed_is_good(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", sealed(FILES))
    found, fingerprint = verify(path, KEY.fingerprint)
    assert (found.period, fingerprint) == (FACTS, KEY.fingerprint)


CHANGES: dict[str, tuple[Callable[[dict[str, bytes]], dict[str, bytes]], str]] = {
    "a byte of a file": (lambda f: {**f, "b.csv": b"id\r\n3\r\n"}, "b.csv differs"),
    "a longer file": (lambda f: {**f, "b.csv": f["b.csv"] + b"3\r\n"}, "b.csv differs"),
    "the first of two": (lambda f: {**f, "b.csv": b"x", "a.csv": b"x"}, "a.csv differs"),
    "a file is missing": (lambda f: {n: t for n, t in f.items() if n != "a.csv"}, "a.csv is missing"),
    "a file was added": (lambda f: {**f, "c.csv": b""}, "c.csv was added"),
    "no manifest": (lambda f: {n: t for n, t in f.items() if n != "manifest.json"}, "manifest.json is missing"),
    "no signature": (lambda f: {n: t for n, t in f.items() if n != "manifest.jws"}, "manifest.jws is missing"),
    "no key": (lambda f: {n: t for n, t in f.items() if n != "key.json"}, "key.json is missing"),
    "another manifest": (
        lambda f: {**f, "manifest.json": f["manifest.json"].replace(b"Ash", b"Elm")},
        "manifest.json is not what was signed",
    ),
    "a signature of nothing": (lambda f: {**f, "manifest.jws": b"e30.."}, "manifest.json is not what was signed"),
    "a signature that is no text": (lambda f: {**f, "manifest.jws": b"\xff"}, "manifest.json is not what was signed"),
    "a key that is none": (lambda f: {**f, "key.json": b"[]"}, "key.json cannot be read"),
    "a secret in the place of a key": (
        lambda f: {**f, "key.json": b'{"kty":"oct","k":"AAAA"}'},
        "manifest.json is not what was signed",
    ),
    "a way out of the folder": (lambda f: {**f, "../x.csv": b""}, "no plain path"),
    "an absolute name": (lambda f: {**f, "/etc/x": b""}, "no plain path"),
    "a folder": (lambda f: {**f, "x/": b""}, "no plain path"),
    "a name of another system": (lambda f: {**f, "x\\y": b""}, "no plain path"),
    "a name with a control character": (lambda f: {**f, "x\x1b[2J": b""}, "no plain path"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_differs_is_named(name: str, tmp_path: Path) -> None:
    change, told = CHANGES[name]
    assert told in fault(packed(tmp_path / "a.zip", change(sealed(FILES))))


def test_another_format_is_told(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", sealed(FILES, format="gatewayd.period-seal.9"))
    assert "another format, 'gatewayd.period-seal.9'" in fault(path)


def test_another_key_than_the_one_that_was_told_will_not_do(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", sealed(FILES))
    assert fault(path, "x" * 43) == f"key.json is another key: its fingerprint is {KEY.fingerprint}"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", sealed(FILES))
    with zipfile.ZipFile(path, "a") as out:
        out.writestr("a.csv", b"other")
    assert fault(path) == "a.csv is in it twice"


@pytest.mark.parametrize("cut", [1, 30, 200, 0.5, 0.9])
def test_a_truncated_bundle_is_refused(cut: float, tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", sealed(FILES))
    whole = path.read_bytes()
    path.write_bytes(whole[: -cut if isinstance(cut, int) else int(len(whole) * cut)])
    assert "no whole bundle" in fault(path)


def test_a_file_that_is_not_there_or_no_archive_is_told(tmp_path: Path) -> None:
    assert fault(tmp_path / "none.zip").endswith("is not there")
    (tmp_path / "text.zip").write_text("books")
    assert "no whole bundle" in fault(tmp_path / "text.zip")
    assert "no whole bundle" in fault(tmp_path)


def test_damage_inside_of_a_file_is_told(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", sealed({"a.csv": bytes(range(256)) * 40}))
    content = bytearray(path.read_bytes())
    content[60:90] = b"\xff" * 30
    path.write_bytes(content)
    assert fault(path).startswith("a.csv cannot be read: ")


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten million zeros where the manifest says eight bytes: no more than a part is looked at."""
    read: list[int] = []
    real = zipfile.ZipExtFile.read
    monkeypatch.setattr(zipfile.ZipExtFile, "read", lambda self, n=-1: read.append(n) or real(self, n))
    path = packed(tmp_path / "a.zip", {**sealed(FILES), "a.csv": bytes(10_000_000)})
    assert fault(path) == "a.csv differs from what was sealed"
    assert max(read) <= archive.PART_BYTES


def test_a_large_manifest_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_SEALING_BYTES", 300)
    assert fault(packed(tmp_path / "a.zip", sealed(FILES))) == "manifest.json is too large"


def test_too_many_files_and_too_many_bytes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(tmp_path / "a.zip", sealed(FILES))
    monkeypatch.setattr(archive, "MAX_BYTES", 10)
    assert fault(path) == "its files are too large together"
    monkeypatch.setattr(archive, "MAX_FILES", 1)
    assert fault(path) == "it has more than 1 files"


def test_an_encrypted_file_is_told(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", sealed(FILES))
    content = bytearray(path.read_bytes())
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.index(signature) + place
        struct.pack_into("<H", content, at, 1)
    path.write_bytes(content)
    assert fault(path).startswith("a.csv cannot be read: ")


async def test_the_command_needs_neither_settings_nor_store(
    open_firm: OpenFirm, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    async with open_firm() as firm:
        await firm.close()
        seal = await firm.seal()
        bundle = await firm.bundle(seal)
    path = tmp_path / "year.zip"
    path.write_bytes(bundle)
    command = ("period", "verify-bundle", str(path), "--config", str(tmp_path / "none.toml"))
    assert main([*command, f"--key={seal['keyFingerprint']}", "--json"]) == 0
    told = msgspec.json.decode(capsys.readouterr().out)
    assert (told["keyFingerprint"], told["keyCompared"]) == (seal["keyFingerprint"], True)
    assert told["contentsSha256"] == seal["contentsSha256"]
    with zipfile.ZipFile(io.BytesIO(bundle)) as whole:
        files = {name: whole.read(name) for name in whole.namelist()}
    packed(path, {**files, "payments.csv": files["payments.csv"].replace(b"150.00", b"151.00")})
    assert main([*command]) == 1
    assert capsys.readouterr().err == "gatewayd: payments.csv differs from what was sealed\n"
