"""OAuth clients, and what people have allowed them."""
