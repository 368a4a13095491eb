"""Rates of exchange: those that are recorded, and those that HMRC publishes."""
