"""Mail: what is written, claimed, sent and recorded, against a real SMTP server."""
