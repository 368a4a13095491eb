"""What a mail says, before it is put into any form: sentences, facts, one thing to do.

The words follow docs/console.md. A letter is kept as it was written: a newer program sends it in the same words.
"""

import unicodedata
from typing import Final

import msgspec

SUBJECT_MAX: Final = 160  # Chosen, characters
TEXT_MAX: Final = 4_000  # Chosen: of one sentence or fact


class Action(msgspec.Struct, frozen=True):
    """One thing to do: a verb with its object, and where it leads."""

    label: str
    url: str


class Letter(msgspec.Struct, frozen=True, kw_only=True):
    """`reason` says why somebody gets it, in a last sentence that is set apart. `facts` are pairs of name and value."""

    subject: str
    paragraphs: tuple[str, ...]
    reason: str
    facts: tuple[tuple[str, str], ...] = ()
    action: Action | None = None
    after: tuple[str, ...] = ()
    """Paragraphs below the action."""
    from_name: str = ""
    """Whose letter it is; empty: the instance's own, as `[mail]` calls it."""
    reply_to: str = ""
    """Where answers go; empty: to the sender."""
    to: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    """All addresses that it goes to, as it shows them; none: its recipient alone. Each of them is a mail of its own."""
    paper: str = ""
    """The invoice or quote, or the statement with its days, whose PDF is attached when it is sent; empty: none is."""
    unsubscribe: str = ""
    """The address at which mail like this ends with one POST (RFC 8058); empty: nobody can have it end."""

    def one_line_each(self) -> "Letter":
        """The same, with every text in one line and of bounded length: nobody's name makes a line of its own."""
        return Letter(
            subject=one_line(self.subject, SUBJECT_MAX),
            paragraphs=tuple(map(one_line, self.paragraphs)),
            reason=one_line(self.reason),
            facts=tuple((one_line(name), one_line(value)) for name, value in self.facts),
            action=None if self.action is None else Action(one_line(self.action.label), one_line(self.action.url)),
            after=tuple(map(one_line, self.after)),
            from_name=one_line(self.from_name),
            reply_to=one_line(self.reply_to),
            to=tuple(map(one_line, self.to)),
            cc=tuple(map(one_line, self.cc)),
            paper=self.paper,
            unsubscribe=one_line(self.unsubscribe),
        )


def one_line(text: str, most: int = TEXT_MAX) -> str:
    """The text in one line, without characters that are not shown: what they were is a space.

    Directions of writing are taken out too, by which a name could turn around the words after it.
    """
    shown = "".join(" " if unicodedata.category(each)[0] in "CZ" else each for each in text)
    line = " ".join(shown.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
