"""Credits: what organizations may use, what became of it, and what work costs (Domain B8 and C8).

Whoever charges for work needs `charging` alone. Amounts are whole numbers of millionths of a credit.
"""
