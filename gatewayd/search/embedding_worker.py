"""The child that makes vectors: texts from standard input, vectors to standard output, until its parent is gone."""

import os
import resource
from pathlib import Path
from typing import BinaryIO, Final

from gatewayd.search.embedding_frames import Answer, Question, read_frame, write_frame

NICENESS: Final = 5  # Chosen: whoever waits for an answer of the daemon comes first
MEMORY_BYTES: Final = 1 << 30
_NOTHING: Final = "."  # what has no words has no vector


def main() -> None:
    """Answer questions until there are no more."""
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    with open(0, "rb") as questions, open(1, "wb") as answers:
        try:
            model = _Model()
        except (ImportError, OSError) as error:
            write_frame(answers, Answer(fault=f"the model cannot be loaded: {error}"))
            return
        write_frame(answers, Answer())
        _serve(model, questions, answers)


def _serve(model: "_Model", questions: BinaryIO, answers: BinaryIO) -> None:
    while (question := read_frame(questions, Question)) is not None:
        write_frame(answers, Answer(vectors=model.vectors(question.texts)))


class _Model:
    def __init__(self) -> None:
        """Raises `ImportError`, `OSError`. The weights are in the package, and nothing is fetched."""
        import wordllama

        folder = Path(wordllama.__file__).parent
        self._model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)

    def vectors(self, texts: list[str]) -> list[bytes]:
        """Each of length 1; what the model has no word of lies where nothing is near."""
        import numpy

        vectors = numpy.asarray(self._model.embed([text.strip() or _NOTHING for text in texts], norm=True), "<f4")
        return [row.tobytes() for row in numpy.nan_to_num(vectors)]
