"""Whatever is done to a bank's file: each of its rows is a line, refused or ignored, or nothing of it is taken."""

import contextlib

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from gatewayd.statements.shapes import Unreadable
from tests.statements.mutilated import WRITERS, Writer, mutilated
from tests.statements.parts import read_parts


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.name)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_no_row_of_a_mutilated_file_disappears(writer: Writer, data: st.DataObject) -> None:
    file = data.draw(mutilated(writer))
    note(file.text)
    with contextlib.suppress(Unreadable):
        found = read_parts(file.text, mapping=writer.mapping, supposes=True)
        told = (len(found.lines), len(found.refused), len(found.ignored))
        assert sum(told) == file.rows, (told, file.done)
        assert all(one.reason for one in found.refused)
