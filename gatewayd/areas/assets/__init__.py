"""Portfolios: what is held, what it cost, what it earned and gained (Spec §4)."""

from gatewayd.areas.assets.accounts import operations as accounts
from gatewayd.areas.assets.gains import losses
from gatewayd.areas.assets.gains import operations as gains
from gatewayd.areas.assets.imports import operations as imports
from gatewayd.areas.assets.income import operations as income
from gatewayd.areas.assets.instruments import operations as instruments
from gatewayd.areas.assets.performance import operations as performance
from gatewayd.areas.assets.portfolios import operations as portfolios
from gatewayd.areas.assets.positions import operations as positions
from gatewayd.areas.assets.prices import operations as prices
from gatewayd.areas.assets.transactions import operations as transactions
from gatewayd.contract.operation import Area

AREA = Area(
    "assets",
    "Assets",
    (
        *portfolios.OPERATIONS,
        *accounts.OPERATIONS,
        *transactions.OPERATIONS,
        *instruments.OPERATIONS,
        *prices.OPERATIONS,
        *imports.OPERATIONS,
        *income.OPERATIONS,
        *positions.OPERATIONS,
        *gains.OPERATIONS,
        *losses.OPERATIONS,
        *performance.OPERATIONS,
        *imports.BY_ENGINE,
        *prices.BY_ENGINE,
    ),
)
