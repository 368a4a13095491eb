"""Objects of an S3-compatible store."""
