"""How a page is put in its place, and how it says what is wrong."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from quart import Quart, render_template

from gatewayd.errors import Problem


def add_page(app: Quart, method: str, path: str, view: Callable[..., Awaitable[Any]]) -> None:
    """Serve `path` by `view`; pages are told apart by method and path, so views of different files may share names."""
    app.add_url_rule(path, endpoint=f"{method} {path}", view_func=view, methods=[method])


def sentence(problem: Problem) -> str:
    """What a person reads of it: beside a form, the name of the field says nothing new."""
    return " ".join(error.message for error in problem.errors) or problem.message


async def confirm(title: str, consequences: Sequence[str], action: str, button: str, back: str) -> str:
    """The page that asks before something that cannot be taken back: a POST to `action` does it.

    `action` is the address of this very page, so that who has to sign in again comes back to the question.
    """
    return await render_template(
        "question.html", title=title, consequences=consequences, action=action, button=button, back=back, hidden=()
    )
