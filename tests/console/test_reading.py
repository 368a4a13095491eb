"""The strict reader sees what is wrong with a page."""

import pytest

from tests.console.reading import Document

PAGE = '<!doctype html><html lang="en"><head><title>T</title></head><body><main><h1>H</h1>{}</main></body></html>'
TOKEN = '<input type="hidden" name="csrf" value="t">'


def test_a_good_page_has_no_fault() -> None:
    fields = f'{TOKEN}<label for="a">A</label><input id="a" name="a"><button>B</button>'
    page = Document(PAGE.format(f'<form method="post" action="/x">{fields}</form>'))
    assert page.faults == []
    assert (page.token, page.buttons(), page.field_named("A").attributes["name"]) == ("t", ["B"], "a")


@pytest.mark.parametrize(
    "wrong",
    [
        '<p id="a">x</p><p id="a">y</p>',
        "<div><p>x</div></p>",
        "<div>",
        "<h1>Second</h1>",
        "<h3>Too deep</h3>",
        '<p class="a" class="b">x</p>',
        '<label for="nothing">x</label>',
        '<p aria-describedby="nothing">x</p>',
        f'<form method="get" action="/x">{TOKEN}</form>',
        '<form method="post" action="/x"></form>',
        f'<form method="post" action="/x">{TOKEN}<input name="a"></form>',
        "<button></button>",
        '<img src="x">',
        "<script>alert(1)</script>",
        '<p style="color: red">x</p>',
        '<p onclick="x()">x</p>',
        '<p tabindex="1">x</p>',
    ],
)
def test_faults_are_seen(wrong: str) -> None:
    assert Document(PAGE.format(wrong)).faults != []
