"""The engine of imports: files come in, are read apart, staged, compared, and applied or undone (domain model E)."""

from gatewayd.importing.operations import OF_ASSETS as OF_ASSETS
from gatewayd.importing.operations import OF_BANKING as OF_BANKING
