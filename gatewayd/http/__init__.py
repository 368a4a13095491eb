"""The API door: routes, requests in and responses out, and what a server answers beside its operations."""
