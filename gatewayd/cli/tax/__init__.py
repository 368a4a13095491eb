"""Access to the tax authority, its headers, and a stub of it for developers."""
