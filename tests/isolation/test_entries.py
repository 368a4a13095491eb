"""A program of one file, which has no interpreter beside it, can be each of the children that it starts."""

from gatewayd import extraction, statements
from gatewayd.cli import CHILDREN
from gatewayd.papers import setter
from gatewayd.search import embedding_child


def test_each_child_is_an_entry_of_the_program() -> None:
    entries = (statements.ENTRY, extraction.ENTRY, embedding_child.ENTRY, setter.ENTRY)
    assert {entry.name for entry in entries} == CHILDREN.keys()
