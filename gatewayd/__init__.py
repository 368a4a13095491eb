"""gatewayd: a self-hosted accounting and tax-compliance API in one process."""

__version__ = "0.1.0"
