"""What to do about what `gatewayd doctor` finds wrong: there is a sentence for whatever it may be about."""

import re
from pathlib import Path

from gatewayd import doctor
from gatewayd.doctor.advice import ADVICE, advice_about

FORMS = (
    r'(?:Finding|_finding|private|passed)\(\s*"([^"]+)"',
    r'\babout(?:, [a-z_, ]+)? = f?"([^"]+)"',
    r'_ABOUT: Final = "([^"]+)"',
)
"""How files of checks say what a finding is about."""


def abouts() -> set[str]:
    texts = [path.read_text("utf-8") for path in Path(doctor.__path__[0]).glob("*.py")]
    found = {each for text in texts for form in FORMS for each in re.findall(form, text)}
    return {re.sub(r"\{.*\}", "org_x", each) for each in found}


def test_there_is_advice_for_whatever_may_be_wrong() -> None:
    found = abouts()
    assert len(found) > 25
    assert sorted(about for about in found if not advice_about(about)) == []


def test_no_advice_is_about_what_nothing_looks_at() -> None:
    found = abouts()
    assert sorted(name for name in ADVICE if name not in found and f"{name} of org_x" not in found) == []


def test_what_is_not_known_has_none() -> None:
    assert (advice_about("moon"), advice_about("tax connection of org_1")) == ("", ADVICE["tax connection"])
