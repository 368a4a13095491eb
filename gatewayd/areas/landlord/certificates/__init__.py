"""Certificates: what kinds there are and which are asked for, shapes, rows, states, operations."""
