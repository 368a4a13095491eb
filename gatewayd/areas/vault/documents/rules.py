"""The rules that a document follows: where it lies, what it belongs to, and which bytes it takes. Reads only."""

import mimetypes
from collections.abc import Iterable, Iterator
from typing import Final

from gatewayd.areas.vault.documents.shapes import ConfirmUpload, DocumentLink, DocumentRow
from gatewayd.contract.caller import Caller
from gatewayd.contract.scopes import ScopeLacking
from gatewayd.errors import FieldError, Problem, invalid, not_found
from gatewayd.ledger.references import Reference, unknown
from gatewayd.store import ReadTx

BOOKS: Final = "accounting:write"
UNKNOWN_TYPE: Final = "application/octet-stream"
_OFFICE: Final = "application/vnd.openxmlformats-officedocument"
_OPEN: Final = "application/vnd.oasis.opendocument"
_MORE_TYPES: Final = {
    "docx": f"{_OFFICE}.wordprocessingml.document",
    "xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    "pptx": f"{_OFFICE}.presentationml.presentation",
    "xlsm": "application/vnd.ms-excel.sheet.macroenabled.12",
    "xlsb": "application/vnd.ms-excel.sheet.binary.macroenabled.12",
    "odt": f"{_OPEN}.text",
    "ods": f"{_OPEN}.spreadsheet",
    "odp": f"{_OPEN}.presentation",
    "msg": "application/vnd.ms-outlook",
    "rtf": "application/rtf",
    "md": "text/markdown",
    "webp": "image/webp",
}
"""As IANA registers them: what a firm keeps and Python knows in newer versions only, or never."""
_TYPES: Final = mimetypes.MimeTypes()
"""Those that Python knows by itself: what the machine knows beside them would make one name two things."""


def type_of(name: str) -> str:
    """The media type that the ending of a name says."""
    _, dot, ending = name.rpartition(".")
    if dot and (more := _MORE_TYPES.get(ending.lower())) is not None:
        return more
    media_type, coding = _TYPES.guess_type(name)
    return UNKNOWN_TYPE if media_type is None or coding is not None else media_type


def refuse_missing_folder(tx: ReadTx, folder_id: str) -> None:
    """Raises `Problem` `not_found` for a folder that a path names and that there is not."""
    if any(unknown(tx, [Reference("folderId", "folder", folder_id)])):
        raise not_found("folder")


def reference_mistakes(tx: ReadTx, folder_id: str | None, links: Iterable[DocumentLink]) -> Iterator[FieldError]:
    """What of a folder and of what a document belongs to does not exist, or is named twice."""
    yield from unknown(tx, [Reference("folderId", "folder", folder_id)])
    seen: set[DocumentLink] = set()
    for index, link in enumerate(links):
        yield from unknown(tx, [Reference(f"links[{index}].id", link.type, link.id)])
        if link in seen:
            yield FieldError(f"links[{index}]", "conflict", "It is named twice: name it once.")
        seen.add(link)


def refuse_unknown_folder(tx: ReadTx, folder_id: str | None) -> None:
    """Raises `Problem` `validation_failed` for a folder that there is not."""
    if errors := [*reference_mistakes(tx, folder_id, ())]:
        raise invalid(*errors)


def refuse_lines_of_others(caller: Caller, before: Iterable[DocumentLink], after: Iterable[DocumentLink]) -> None:
    """Raises `Problem` `insufficient_scope` where bank lines come or go, and the caller may not change the books.

    What is allocated of a line has its documents, and evidence counts them.
    """
    if _bank_line_ids(before) != _bank_line_ids(after) and BOOKS not in caller.scopes:
        raise ScopeLacking(("vault:write", BOOKS))


def _bank_line_ids(links: Iterable[DocumentLink]) -> set[str]:
    return {link.id for link in links if link.type == "bank_transaction"}


def refuse_other_bytes(size: int, sha256: str, declared: "ConfirmUpload | DocumentRow") -> None:
    """Raises `Problem` `checksum_mismatch` where what was received is not what was said."""
    said = (
        (declared.declared_size_bytes, declared.declared_sha256)
        if isinstance(declared, DocumentRow)
        else (declared.size_bytes, declared.sha256)
    )
    if said[0] not in (None, size):
        raise Problem("checksum_mismatch", f"It has {size} bytes, and not {said[0]}.")
    if said[1] not in (None, sha256):
        raise Problem("checksum_mismatch", f"The SHA-256 of its bytes is {sha256}.")
