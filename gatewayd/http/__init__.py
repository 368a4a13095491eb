"""The API door: sockets, the HTTP/1.1 driver, HTTP/2 through Hypercorn, and the operations behind them."""
