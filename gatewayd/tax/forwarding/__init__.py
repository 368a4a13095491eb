"""The operations that pass an answer of the authority on, or compose it."""
