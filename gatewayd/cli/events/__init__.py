"""Leads and opportunities, events, and the webhooks that tell of them."""
