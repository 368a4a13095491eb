"""Invoices on paper and as XML: what one says, how it is set, and where it is kept.

Imports nothing, since the child that sets papers loads a part of it alone.
"""
