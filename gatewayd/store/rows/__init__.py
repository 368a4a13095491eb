"""Rows from structs: columns, tables, and rows that are staged."""
