"""Objects of an S3-compatible store, by its REST API ("Amazon S3 API Reference"). All of it blocks: not on the loop."""
