"""Rent that tenancies owe and pay: when it falls due, what came, what waits for a payment."""
