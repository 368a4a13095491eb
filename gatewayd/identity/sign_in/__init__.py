"""How a person proves who they are, and the sessions that follow."""
