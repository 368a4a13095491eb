"""What stands in README.txt of every bundle: how to read and to check it without this program."""

from typing import Final

NAME: Final = "README.txt"
TEXT: Final = """\
The books of one closed period, sealed by gatewayd.

*.csv               UTF-8, RFC 4180 §2, one heading. The first column, id, names the row.
                    Text that a spreadsheet would run as a formula (it begins with = + - @, a tab or a carriage
                    return) has an apostrophe before it, and so has text that begins with an apostrophe: a program
                    takes one away. Numbers are as they are.
former_*.csv        The VAT scheme and the owners' shares that hold up to lastDay, where others have followed:
                    legal_entity.csv and businesses.csv show what holds when the books are sealed.
stated_balances.csv What people said that accounts held at the end of a day, as a statement's foot does.
books.beancount     Money and invoices in double entry, for beancount (https://github.com/beancount/beancount).
                    Income of invoices stands on the day of supply, whatever the basis; what the business made on its
                    own basis is in profit_and_loss.csv, with the rows behind each figure in
                    profit_and_loss_rows.csv. Balances from before the period are not in it.
documents.csv       The documents that allocations name, and those that belong to invoices and bank lines, with the path
                    of each. It is there where the period was sealed with documents; what lay in the trash is not.
documents/          Their bytes, by their SHA-256: documents with the same bytes are one file.
manifest.json       Every other file with its length and SHA-256, and whose books these are.
manifest.jws        The signature of manifest.json: a JWS with detached payload (RFC 7515 appendix F), ES256.
key.json            The public key that made it, as a JWK (RFC 7517).

To check it:        gatewayd period verify-bundle FILE --key FINGERPRINT
                    It needs no network, no settings and no data. FINGERPRINT is the thumbprint of the key (RFC 7638)
                    that was told when the period was sealed: a bundle alone cannot prove whose key it is.
Without gatewayd:   any program that knows JOSE checks manifest.jws over manifest.json with key.json; sha256sum gives
                    the hashes of the files. contentsSha256 is the SHA-256 of the lines that sha256sum writes of them,
                    in the order of their names; it is the same for the same books, whenever they were sealed.

Left out are National Insurance numbers, and what later payments make of an invoice.
"""
