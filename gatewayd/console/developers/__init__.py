"""What programs need: keys, webhooks, usage, what is open to the outside, the reference."""
