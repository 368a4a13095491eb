"""Documents found by their words, and by what they are about (Domain A7, C9)."""
