"""Media types, and what may be done with them."""

from typing import Final

SHOWN_INLINE: Final = frozenset(
    {
        "application/pdf",
        "image/avif",
        "image/gif",
        "image/jpeg",
        "image/png",
        "image/webp",
        "text/plain",
    }
)
"""What a browser shows without running anything in it. SVG, HTML and XML are saved instead."""
