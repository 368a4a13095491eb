"""The database behind one face, whichever engine has it: reads, one writer with group commit, sealing and bytes."""

from gatewayd.store.database import Store
from gatewayd.store.failures import OverBudget, StoreFailure
from gatewayd.store.rows.columns import Columns
from gatewayd.store.rows.staged_rows import StagedRows
from gatewayd.store.rows.tables import RemovableTable, Table
from gatewayd.store.transactions import ReadTx, Row, WriteTx
from gatewayd.store.waiting_jobs import WriterTime

__all__ = [
    "Columns",
    "OverBudget",
    "ReadTx",
    "RemovableTable",
    "Row",
    "StagedRows",
    "Store",
    "StoreFailure",
    "Table",
    "WriteTx",
    "WriterTime",
]
