"""The pages that people see: signing in, the account, choosing and consenting for OAuth, connected apps (product.md).

Server-rendered, no build step. Everything but passkeys and copy buttons works without JavaScript.
"""
