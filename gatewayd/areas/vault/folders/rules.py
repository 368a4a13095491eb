"""The rules that a place in the tree of folders follows. Pure."""

from collections.abc import Iterator

from gatewayd.areas.vault.folders.rows import MAX_DEPTH, Tree
from gatewayd.errors import FieldError


def depth_mistakes(tree: Tree, parent_id: str | None, height: int) -> Iterator[FieldError]:
    """What is wrong where folders of so many levels lie in another; None: at the top."""
    above = 0 if parent_id is None else tree.place(parent_id).depth
    if above + height > MAX_DEPTH:
        yield FieldError("parentId", "out_of_range", f"Folders lie at most {MAX_DEPTH} deep in each other.")


def is_cycle(tree: Tree, folder_id: str, parent_id: str | None) -> bool:
    """Whether a folder would lie in itself."""
    return parent_id is not None and parent_id in tree.below(folder_id)
