"""SQLite through apsw: inline reads under a budget, one writer with group commit, migrations, sealing and blobs."""

from gatewayd.store.database import Store
from gatewayd.store.failures import OverBudget, StoreFailure
from gatewayd.store.transactions import ReadTx, Row, WriteTx

__all__ = ["OverBudget", "ReadTx", "Row", "Store", "StoreFailure", "WriteTx"]
