"""`gatewayd doctor`, of how documents are read: what shuts in the processes that do it, and text in pictures."""

import subprocess
from collections.abc import Iterator, Sequence
from typing import Final

from gatewayd.doctor.examined import Examined
from gatewayd.doctor.findings import Finding

_SECONDS: Final = 10.0  # Chosen
_ORIENTATION: Final = "osd"  # tells which way up a page lies
_WITHOUT: Final = {
    "landlock": "The kernel has no landlock (5.13 has): the filter of system calls alone keeps files shut.",
    "seccomp": "The kernel has no filter of system calls for this machine (seccomp): landlock and limits alone hold.",
    "bubblewrap": "bubblewrap is not installed or may not run here; it adds a view without data (Debian: bubblewrap).",
}


def documents(examined: Examined) -> Iterator[Finding]:
    """One child is started, which reads nothing."""
    import trio

    from gatewayd.extraction.reader import ReaderSettings, opener_of
    from gatewayd.extraction.shapes import ExtractionFailed

    async def told() -> tuple[list[str], str | None]:
        async with opener_of(examined.environ)(ReaderSettings()) as reader:
            return await reader.layers()

    try:
        layers, program = trio.run(told)
    except ExtractionFailed:
        yield Finding("documents", False, "The process that reads them cannot be started: none is read.")
        return
    yield walls(layers)
    if examined.config.vault.ocr == "off":
        yield Finding("text in pictures", True, "It is not recognised: vault.ocr is off.")
    else:
        there = _languages(program) if program is not None else ()
        yield recognition(program, there, examined.config.vault.ocr_languages)


def walls(layers: Sequence[str]) -> Finding:
    """By the names that `DocumentReader.layers` gives."""
    lacking = [name for name in _WITHOUT if not any(layer.startswith(name) for layer in layers)]
    sentence = " ".join([f"Read in a process behind {', '.join(layers)}.", *(_WITHOUT[name] for name in lacking)])
    if {"landlock", "seccomp"} <= set(lacking):
        return Finding("documents", False, f"Read in a process behind {', '.join(layers)}: nothing keeps files shut.")
    return Finding("documents", True, sentence)


def recognition(program: str | None, there: Sequence[str], wanted: Sequence[str]) -> Finding:
    """Nothing is wrong where it was never installed. `wanted` are the languages of `vault.ocr_languages`."""
    if program is None:
        sentence = "tesseract is not installed: scans and photographs are kept, not searched (Debian: tesseract-ocr)."
        return Finding("text in pictures", True, sentence)
    lacking = [language for language in wanted if language not in there]
    if lacking:
        sentence = f"{program} does not have {', '.join(lacking)} of vault.ocr_languages ({_packages(lacking)})."
        return Finding("text in pictures", False, sentence)
    sentence = f"{program} recognises it in {', '.join(wanted)}."
    if _ORIENTATION not in there:
        sentence += f" What lies on its side or upside down is not read: it has no osd ({_packages([_ORIENTATION])})."
    return Finding("text in pictures", True, sentence)


def _packages(languages: Sequence[str]) -> str:
    """As Debian names them, such as tesseract-ocr-chi-sim."""
    return "Debian: " + " ".join(f"tesseract-ocr-{language.lower().replace('_', '-')}" for language in languages)


def _languages(program: str) -> list[str]:
    """Behind a heading, one on each line; none where it does not run."""
    try:
        ran = subprocess.run(
            [program, "--list-langs"], capture_output=True, text=True, timeout=_SECONDS, check=True, env={}
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return ran.stdout.splitlines()[1:]
