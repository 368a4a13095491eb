"""The books: portfolios, accounts, instruments and transactions as they are stored. All else follows from them."""
