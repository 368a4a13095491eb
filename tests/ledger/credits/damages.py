"""What can be wrong with a ledger that was changed by hand, and what `verify` has to say of it (Domain C8)."""

ENTRY = "UPDATE credit_entries SET {} WHERE org_id = :org_id AND sequence = {}"
_FIRST, _SMALL, _TAKEN, _BOUGHT = "expired > 0", "priority = 1", "voided > 0", "source = 'purchase'"
_GRANT = "UPDATE credit_grants SET {} WHERE org_id = :org_id AND {}"
_COPY = """
INSERT INTO credit_entries (id, org_id, sequence, type, amount, balance_after, lifetime_granted, lifetime_used,
  grant_id, operation, operation_id, part, occurred_at, booked_at, reversal_of)
SELECT 'led_copy', org_id, 12, type, amount, 49 * 1000000 + amount, lifetime_granted,
  lifetime_used - CASE WHEN type = 'usage' OR type = 'refund' THEN amount ELSE 0 END, grant_id, operation, {}, {},
  occurred_at, booked_at, reversal_of
FROM credit_entries WHERE org_id = :org_id AND sequence = {}
"""
_QUARTERS = "the usage of vault.parse in the quarter of an hour from {} is not the ledger's"
_BLOCKS = "the usage of vault.parse in the six hours from 2026-11-20T06:00:00.000Z is not that of its quarters"
_AT_FIRST, _AT_LAST = "2026-11-20T09:30:00.000Z", "2026-11-20T10:30:00.000Z"

DAMAGES = {
    # 1 and 2: the balance is the sum of the entries, from one to the next
    "a balance": (
        [ENTRY.format("balance_after = balance_after + 1000000", 2)],
        ["entry 2 leaves 71 of 100 and -30", "entry 3 leaves 75 of 71 and 5"],
    ),
    "the last balance": (
        [ENTRY.format("balance_after = balance_after + 1000000", 11)],
        ["what grants have left is 49, the balance 50", "entry 11 leaves 50 of 50 and -1"],
    ),
    "a balance below that of the one before": (
        [ENTRY.format("balance_after = balance_after - 1", 8)],
        ["entry 8 leaves 66.999999 of 77 and -10", "entry 9 leaves 117 of 66.999999 and 50"],
    ),
    "an amount, and all balances behind it": (
        [
            ENTRY.format("amount = amount + 2000000", 7),
            "UPDATE credit_entries SET balance_after = balance_after + 2000000, "
            "lifetime_granted = lifetime_granted + 2000000 WHERE org_id = :org_id AND sequence >= 7",
        ],
        [
            "the grant {taken} has 10 given, by its entries and holds 12",
            "the grant {taken} has 0 remaining, by its entries and holds 2",
            "what grants have left is 49, the balance 51",
        ],
    ),
    "an entry is missing": (
        ["DELETE FROM credit_entries WHERE org_id = :org_id AND sequence = 7"],
        [
            "the grant {taken} has 10 given, by its entries and holds -10",
            "the grant {taken} has 0 remaining, by its entries and holds -10",
            "entry 8 follows entry 6",
            "entry 8 leaves 67 of 67 and -10",
            "entry 8 tells that 115 were granted by then, not 105",
        ],
    ),
    "the last entry is missing": (
        ["DELETE FROM credit_entries WHERE org_id = :org_id AND sequence = 11"],
        [
            "the grant {bought} has 49 remaining, by its entries and holds 50",
            "what grants have left is 49, the balance 50",
            _QUARTERS.format(_AT_LAST),
            "the usage by quarters is 39 in 3 operations, the ledger's 38 in 2",
            "the usage by six hours is 39 in 3 operations, the ledger's 38 in 2",
        ],
    ),
    "a number": (
        [ENTRY.format("sequence = 12", 11)],
        ["entry 12 follows entry 10"],
    ),
    "an order": (
        [ENTRY.format("booked_at = booked_at + 60000000", 8)],
        ["entry 9 was booked before entry 8"],
    ),
    "what was granted in all": (
        [ENTRY.format("lifetime_granted = lifetime_granted + 1", 11)],
        ["entry 11 tells that 165.000001 were granted by then, not 165"],
    ),
    "what was used in all": (
        [ENTRY.format("lifetime_used = lifetime_used - 1", 6)],
        [
            "entry 6 tells that 37.999999 were used by then, not 38",
            "entry 7 tells that 38 were used by then, not 37.999999",
        ],
    ),
    # 3: amount - used - expired - voided = remaining, which is not below 0
    "more was used of a grant": (
        [_GRANT.format("used = used + 1", _FIRST)],
        ["the grant {first} doesn't add up"],
    ),
    "more remains of a grant": (
        [_GRANT.format("remaining = remaining + 1000000", _SMALL)],
        [
            "the grant {small} doesn't add up",
            "the grant {small} has 1 remaining, by its entries and holds 0",
            "what grants have left is 50, the balance 49",
        ],
    ),
    "less than nothing remains of a grant": (
        [_GRANT.format("remaining = remaining - 1, used = used + 1", _SMALL)],
        [
            "the grant {small} doesn't add up",
            "the grant {small} has -0.000001 remaining, by its entries and holds 0",
        ],
    ),
    "less than nothing was used of a grant": (
        [_GRANT.format("used = used - 20000000, amount = amount - 20000000", _TAKEN)],
        ["the grant {taken} doesn't add up", "the grant {taken} has -10 given, by its entries and holds 10"],
    ),
    "less than nothing has expired of a grant": (
        [_GRANT.format("expired = -1, used = used + 1", _SMALL)],
        ["the grant {small} doesn't add up", "the grant {small} has -0.000001 expired, by its entries and holds 0"],
    ),
    "less than nothing was voided of a grant": (
        [_GRANT.format("voided = -1, used = used + 1", _SMALL)],
        ["the grant {small} doesn't add up", "the grant {small} has -0.000001 voided, by its entries and holds 0"],
    ),
    "a grant was of more, which was used": (
        [_GRANT.format("amount = amount + 1, used = used + 1", _BOUGHT)],
        ["the grant {bought} has 50.000001 given, by its entries and holds 50"],
    ),
    "what has expired of a grant": (
        [_GRANT.format("expired = expired - 7000000, used = used + 7000000", _FIRST)],
        ["the grant {first} has 60 expired, by its entries and holds 67"],
    ),
    "what has expired of another": (
        [_GRANT.format("expired = 5000000, used = 0", _SMALL)],
        ["the grant {small} has 5 expired, by its entries and holds 0"],
    ),
    "what was voided of a grant": (
        [_GRANT.format("voided = voided - 1, used = used + 1", _TAKEN)],
        ["the grant {taken} has 9.999999 voided, by its entries and holds 10"],
    ),
    "what was voided has expired": (
        [_GRANT.format("voided = 0, expired = 10000000", _TAKEN)],
        [
            "the grant {taken} has 10 expired, by its entries and holds 0",
            "the grant {taken} has 0 voided, by its entries and holds 10",
        ],
    ),
    "less is held of a grant": (
        [_GRANT.format("held = held - 1000000", _BOUGHT)],
        ["the grant {bought} has 19 held, by its entries and holds 20"],
    ),
    "more is held of a grant than remains": (
        [_GRANT.format("held = 1", _SMALL)],
        ["the grant {small} doesn't add up", "the grant {small} has 0.000001 held, by its entries and holds 0"],
    ),
    "less than nothing is held of a grant": (
        [_GRANT.format("held = -1", _SMALL)],
        ["the grant {small} doesn't add up", "the grant {small} has -0.000001 held, by its entries and holds 0"],
    ),
    "a hold holds more": (
        ["UPDATE credit_hold_draws SET amount = amount + 1 WHERE org_id = :org_id"],
        ["the grant {bought} has 20 held, by its entries and holds 20.000002"],
    ),
    "a hold has ended": (
        ["UPDATE credit_holds SET status = 'released', closed_at = :now WHERE org_id = :org_id"],
        ["the grant {bought} has 20 held, by its entries and holds 0"],
    ),
    # 4: what the grants have left is the balance
    "a grant has more left": (
        [_GRANT.format("used = used - 1000000, remaining = remaining + 1000000", _BOUGHT)],
        [
            "the grant {bought} has 50 remaining, by its entries and holds 49",
            "what grants have left is 50, the balance 49",
        ],
    ),
    "a grant has more left and another less": (
        [
            _GRANT.format("used = used - 1000000, remaining = remaining + 1000000", _SMALL),
            _GRANT.format("used = used + 1000000, remaining = remaining - 1000000", _BOUGHT),
        ],
        [
            "the grant {small} has 1 remaining, by its entries and holds 0",
            "the grant {bought} has 48 remaining, by its entries and holds 49",
        ],
    ),
    # 5: entries stay as they are, and a refund says of which
    "an amount": (
        [ENTRY.format("amount = amount - 1000000", 11)],
        [
            "the grant {bought} has 49 remaining, by its entries and holds 48",
            _QUARTERS.format(_AT_LAST),
            "the usage by quarters is 39 in 3 operations, the ledger's 40 in 3",
            "the usage by six hours is 39 in 3 operations, the ledger's 40 in 3",
            "entry 11 leaves 49 of 50 and -2",
            "entry 11 tells that 39 were used by then, not 40",
        ],
    ),
    "a type": (
        [ENTRY.format("type = 'void'", 10)],
        [
            "the grant {first} has 67 expired, by its entries and holds 0",
            "the grant {first} has 0 voided, by its entries and holds 67",
        ],
    ),
    "when it was used": (
        [ENTRY.format("occurred_at = occurred_at - 3600000000", 11)],
        [_QUARTERS.format(_AT_FIRST), _QUARTERS.format(_AT_LAST)],
    ),
    "what was used": (
        [ENTRY.format("operation = 'tax.forward'", 11)],
        [_QUARTERS.format(_AT_LAST)],
    ),
    "a refund of nothing": ([ENTRY.format("reversal_of = NULL", 6)], ["entry 6 reverses no usage"]),
    "a refund of a grant": (
        [ENTRY.format("reversal_of = (SELECT id FROM credit_entries WHERE org_id = :org_id AND sequence = 1)", 6)],
        ["entry 6 reverses no usage", "more of entry 1 was refunded than was used"],
    ),
    "a refund of what came later": (
        [
            ENTRY.format("reversal_of = (SELECT id FROM credit_entries WHERE org_id = :org_id AND sequence = 11)", 6),
            ENTRY.format("occurred_at = :now - 3600000000", 11),
            "UPDATE credit_usage SET credits = 39000000, operations = 3 WHERE org_id = :org_id AND operations = 2",
            "DELETE FROM credit_usage WHERE org_id = :org_id AND operations = 1",
        ],
        ["entry 6 reverses no usage", "more of entry 11 was refunded than was used"],
    ),
    "a refund of another time": (
        [ENTRY.format("occurred_at = occurred_at + 1", 6)],
        ["entry 6 reverses no usage"],
    ),
    "a refund of other work": (
        [ENTRY.format("operation = NULL", 6)],
        [
            "entry 6 reverses no usage",
            _QUARTERS.format(_AT_FIRST),
            "the usage by quarters is 39 in 3 operations, the ledger's 43 in 3",
            "the usage by six hours is 39 in 3 operations, the ledger's 43 in 3",
        ],
    ),
    "a refund of what is no usage": (
        [ENTRY.format("type = 'adjustment'", 2)],
        [
            "entry 6 reverses no usage",
            _QUARTERS.format(_AT_FIRST),
            "the usage by quarters is 39 in 3 operations, the ledger's 9 in 2",
            "the usage by six hours is 39 in 3 operations, the ledger's 9 in 2",
            "entry 2 tells that 30 were used by then, not 0",
        ],
    ),
    "a refund of more": (
        [ENTRY.format("amount = 31000000", 6)],
        [
            "the grant {first} has 0 remaining, by its entries and holds 27",
            "more of entry 2 was refunded than was used",
            _QUARTERS.format(_AT_FIRST),
            "the usage by quarters is 39 in 3 operations, the ledger's 12 in 3",
            "the usage by six hours is 39 in 3 operations, the ledger's 12 in 3",
            "entry 6 leaves 67 of 63 and 31",
            "entry 6 tells that 38 were used by then, not 11",
        ],
    ),
    "usage that reverses": (
        [ENTRY.format("reversal_of = (SELECT id FROM credit_entries WHERE org_id = :org_id AND sequence = 2)", 11)],
        ["entry 11 reverses no usage"],
    ),
    # 6: an operation is charged once
    "it was charged again": (
        ["DROP INDEX credit_entries_charged", _COPY.format("operation_id", 1, 11)],
        ["op_e was charged twice"],
    ),
    "it was charged again as another part, behind it": (
        [_COPY.format("operation_id", 2, 11)],
        ["op_e was charged twice"],
    ),
    "it was charged again as another part, later": (
        [_COPY.format("operation_id", 2, 2)],
        ["op_a was charged twice"],
    ),
    "a part of a charge is missing": (
        [ENTRY.format("part = 3", 5)],
        ["op_d was charged twice"],
    ),
    # the sums are those of the ledger
    "credits of a quarter": (
        ["UPDATE credit_usage SET credits = credits + 1 WHERE org_id = :org_id AND operations = 2"],
        [
            _QUARTERS.format(_AT_FIRST),
            _BLOCKS,
            "the usage by quarters is 39.000001 in 3 operations, the ledger's 39 in 3",
        ],
    ),
    "operations of a quarter": (
        ["UPDATE credit_usage SET operations = operations + 1 WHERE org_id = :org_id AND operations = 2"],
        [_QUARTERS.format(_AT_FIRST), _BLOCKS, "the usage by quarters is 39 in 4 operations, the ledger's 39 in 3"],
    ),
    "a quarter": (
        ["UPDATE credit_usage SET quarter = quarter + 1 WHERE org_id = :org_id AND operations = 2"],
        [_QUARTERS.format("2026-11-20T09:45:00.000Z")],
    ),
    "credits of six hours": (
        ["UPDATE credit_usage_blocks SET credits = credits + 1 WHERE org_id = :org_id"],
        [_BLOCKS, "the usage by six hours is 39.000001 in 3 operations, the ledger's 39 in 3"],
    ),
    "operations of six hours": (
        ["UPDATE credit_usage_blocks SET operations = operations - 1 WHERE org_id = :org_id"],
        [_BLOCKS, "the usage by six hours is 39 in 2 operations, the ledger's 39 in 3"],
    ),
    "six hours are missing": (
        ["DELETE FROM credit_usage_blocks WHERE org_id = :org_id"],
        ["the usage by six hours is 0 in 0 operations, the ledger's 39 in 3"],
    ),
}
"""What is done to the ledger of `good`, and what is said of it then; of entries that are copied, but for the sums."""
