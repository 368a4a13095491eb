"""The register: properties as they are stored. All that is let, and what follows from it, refers to them."""
