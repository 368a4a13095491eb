"""The engine of imports: files come in, are read apart, staged, compared, and applied or undone (domain model E)."""

from gatewayd.importing.operations import OPERATIONS as OPERATIONS
