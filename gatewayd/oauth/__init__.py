"""The identity provider's door for machines: one endpoint in each file, over the rules of the identity floor."""
