"""What the books come to: profit and loss, VAT, and who shares in it."""
