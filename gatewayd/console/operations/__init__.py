"""One way from an operation to a page: calls with a person's rights, and the lists, forms and questions of rows."""
