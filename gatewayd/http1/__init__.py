"""The HTTP driver, and the vocabulary of HTTP that the whole program shares. Imports nothing of ours."""
