"""The landlord's dashboard: shapes, sums, operation."""
