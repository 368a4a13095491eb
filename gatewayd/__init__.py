"""gatewayd: a self-hosted accounting and tax-compliance API in one process."""
