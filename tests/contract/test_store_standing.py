"""How much there is of everything, on both databases."""

from datetime import timedelta

from agents_manager.domain.task import EffectRow
from agents_manager.flow.ports import Tx
from agents_manager.store.database import Database
from tests.contract.store_values import NOW, furnish

