"""The property pages of a tax return: shapes, boxes, operation."""
