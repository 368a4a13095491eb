"""How a page is put in its place, and how it says what is wrong."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from quart import Quart, render_template, request

from gatewayd.console.file_forms import note_that_takes_files
from gatewayd.errors import Problem


def add_page(
    app: Quart, method: str, path: str, view: Callable[..., Awaitable[Any]], *, takes_file: bool = False
) -> None:
    """Serve `path` by `view`; pages are told apart by method and path, so views of different files may share names.

    `takes_file`: what is sent there may be a form with a file.
    """
    endpoint = f"{method} {path}"
    app.add_url_rule(path, endpoint=endpoint, view_func=view, methods=[method])
    if takes_file:
        note_that_takes_files(app, endpoint)


def sentence(problem: Problem) -> str:
    """What a person reads of it: beside a form, the name of the field says nothing new."""
    return " ".join(error.message for error in problem.errors) or problem.message


def with_query(path: str, values: Mapping[str, object]) -> str:
    """The address of a page that is asked for these values; a list is given by repeating its name."""
    return f"{path}?{urlencode(values, doseq=True)}" if values else path


class Question(NamedTuple):
    """What will happen, to be agreed to.

    `action` is where a POST does it, empty: at the path of this very page. With a query it is the address of the page,
    so that who has to sign in again comes back to the question. `hidden` goes along.
    """

    title: str
    consequences: Sequence[str]
    button: str
    back: str
    action: str = ""
    hidden: Sequence[tuple[str, str]] = ()


async def ask(question: Question, problem: str = "") -> str:
    """The page that asks before something that cannot be taken back; `problem`: what spoke against it just now."""
    asked = question._replace(action=question.action or request.path)
    return await render_template("question.html", problem=problem, **asked._asdict())
