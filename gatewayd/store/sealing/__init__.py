"""Secrets that are needed back, sealed with the key of the instance."""
