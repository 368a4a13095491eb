"""Bank accounts, their transactions, what these are for, and the files they come from (Spec §4)."""

from gatewayd.areas.banking import institutions, rules
from gatewayd.areas.banking.accounts import operations as accounts
from gatewayd.areas.banking.allocations import operations as allocations
from gatewayd.areas.banking.imports import operations as imports
from gatewayd.areas.banking.proposals import operations as proposals
from gatewayd.areas.banking.statements import coverage
from gatewayd.areas.banking.transactions import operations as transactions
from gatewayd.contract.operation import Area

AREA = Area(
    "banking",
    "Banking",
    (
        *institutions.OPERATIONS,
        *accounts.OPERATIONS,
        *transactions.OPERATIONS,
        *coverage.OPERATIONS,
        *imports.OPERATIONS,
        *allocations.OPERATIONS,
        *rules.OPERATIONS,
        *proposals.OPERATIONS,
        *imports.BY_ENGINE,
    ),
)
