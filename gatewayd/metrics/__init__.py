"""The daemon's numbers for Prometheus: read where they are counted, put into words when somebody asks."""
