"""Loans that are paid off: schedules, and the instalments that payments meet."""
