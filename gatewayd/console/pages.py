"""How a page is put in its place, and how it says what is wrong."""

from collections.abc import Awaitable, Callable
from typing import Any

from quart import Quart

from gatewayd.errors import Problem


def add_page(app: Quart, method: str, path: str, view: Callable[..., Awaitable[Any]]) -> None:
    """Serve `path` by `view`; pages are told apart by method and path, so views of different files may share names."""
    app.add_url_rule(path, endpoint=f"{method} {path}", view_func=view, methods=[method])


def sentence(problem: Problem) -> str:
    """What a person reads of it: beside a form, the name of the field says nothing new."""
    return " ".join(error.message for error in problem.errors) or problem.message
