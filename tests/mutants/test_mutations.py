"""Which mutants a source has, how they are told, and that what must not change stays."""

import ast
import textwrap

import pytest

from tests.mutants.mutations import Mutant, mutants


def changes(source: str) -> list[tuple[str, str]]:
    """Each mutant's line, before and after."""
    return [(mutant.before, mutant.after) for mutant, _ in mutants(textwrap.dedent(source))]


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("x = a < b", ["x = a <= b"]),
        ("x = a == b is None", ["x = a != b is None", "x = a == b is not None"]),
        ("x = a in b", ["x = a not in b"]),
        ("x = a and b or c", ["x = (a and b) and c", "x = (a or b) or c"]),
        ("x = not a", ["x = a"]),
        ("x = 7", ["x = 8"]),
        ("x = True", ["x = False"]),
        ("x = a + b * c", ["x = a - b * c", "x = a + b // c"]),
        ("x += a", ["pass", "x -= a"]),
        ("x = a if b else c", ["x = a if not b else c"]),
        ("x = [a for a in b if c]", ["x = [a for a in b if not c]"]),
        ("x = min(a)", ["x = max(a)"]),
        ("x.y = a", ["pass"]),
        ("x[a] = b", ["pass"]),
        ("f(a)", ["pass"]),
        ("del x[a]", ["pass"]),
        ("raise E(a)", ["pass"]),
        ("f'{a > b}'", ["pass", "f'{a >= b}'"]),
    ],
)
def test_what_a_line_is_changed_to(line: str, after: list[str]) -> None:
    assert sorted(changes(line)) == sorted((line, each) for each in after)


@pytest.mark.parametrize(
    "line",
    [
        "x = 'text'",
        "x = None",
        "x: Literal[1] = a",
        "import a",
        "from a import b",
        "assert a < 1",
        "'a text by itself'",
        "x = zip(a, b, strict=True)",
        "class C(a, frozen=True):\n    '''SELECT 1 WHERE a > 1'''",
        "@cache(1)\ndef f(a: Literal[1]) -> Literal[2]:\n    return a",
    ],
)
def test_what_is_left_as_it_is(line: str) -> None:
    assert changes(line) == []


def test_blocks() -> None:
    source = """
    def f(a=1):
        for b in a:
            if b:
                continue
            with suppress(E):
                return b
        try:
            g()
        except (A, B):
            raise
        return a
    """
    assert changes(source) == [
        ("def f(a=1):", "def f(a=2):"),
        ("if b:", "if not b:"),
        ("continue", "break"),
        ("with suppress(E):", "with suppress():"),
        ("return b", "pass"),
        ("g()", "pass"),
        ("except (A, B):", "except (B,):"),
        ("except (A, B):", "except (A,):"),
        ("raise", "pass"),
    ]


def test_sql_is_told_by_the_line_that_changes() -> None:
    source = '''
    _FIND = f"""
    SELECT a FROM b
    WHERE c >= :now AND d IS NULL {more}
    """
    '''
    line = "WHERE c >= :now AND d IS NULL"
    assert changes(source) == [
        (line, line.replace(">=", ">")),
        (line, line.replace("AND", "OR")),
        (line, line.replace("IS NULL", "IS NOT NULL")),
    ]
    assert {mutant.where for mutant, _ in mutants(textwrap.dedent(source))} == {"_FIND"}


def test_a_mutant_is_told_by_where_it_stands() -> None:
    source = "class C:\n    def f(self):\n        def g():\n            h(1)\n        return g\nX = 1"
    assert [mutant for mutant, _ in mutants(source)] == [
        Mutant("C.f.g", "h(1)", "pass"),
        Mutant("C.f.g", "h(1)", "h(2)"),
        Mutant("X", "X = 1", "X = 2"),
    ]


def test_of_a_long_line_the_part_that_changes_is_told() -> None:
    numbers = ", ".join(f"argument_{n}=value_{n}" for n in range(20))
    (before, after) = changes(f"call({numbers}, last=a + b)")[1]
    assert before.endswith(" argument_19=value_19, last=a + b)")
    assert (len(before), after) == (40 + len("+ b)"), before.replace("+", "-"))


def test_each_tree_has_one_change_and_the_next_has_it_no_more() -> None:
    source = "if a < 1:\n    f(2)\n"
    seen = [ast.unparse(tree) for _, tree in mutants(source)]
    assert seen == ["if a <= 1:\n    f(2)", "if a < 2:\n    f(2)", "if a < 1:\n    pass", "if a < 1:\n    f(3)"]
