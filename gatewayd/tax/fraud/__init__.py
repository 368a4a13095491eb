"""Fraud-prevention headers, and the formats of their values."""
