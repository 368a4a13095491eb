"""The guarded transport: resolve, vet, pin, connect, TLS; under webhooks, tax and client metadata alike."""
