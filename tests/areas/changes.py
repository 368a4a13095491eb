"""What a change leaves as it was."""

from tests.areas.accounting.books import Json


def expect_change(before: Json, after: Json, **fields: object) -> None:
    """Only these fields are others, and the version is the next."""
    stamps = {"version": before["version"] + 1, "updatedAt": after["updatedAt"]}
    assert after == {**before, **fields, **stamps}
