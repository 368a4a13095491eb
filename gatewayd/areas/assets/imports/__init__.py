"""Imports of brokers' files: what their rows become, and which of them are there already."""
