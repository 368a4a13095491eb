"""The sandbox authority: the tax authority's own endpoints, as it documents its own sandbox. Knows no tax engine."""
