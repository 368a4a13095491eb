"""The reference of the command line, `docs/commands.md`, made from the parser."""

import argparse
from collections.abc import Iterator, Mapping
from typing import Final

from gatewayd.cli.parser import build_parser

HEADER = """\
# Commands

Made from the program's own parser by `make generate`. `gatewayd COMMAND --help` says the same.

Every command takes `--config FILE`; without it the settings are those of `$GATEWAYD_CONFIG`, else of
`/etc/gatewayd/gatewayd.toml`, else of the user's configuration folder. Commands work beside a running daemon and
without one. `--json` prints exactly one JSON document on standard output; what a command made is printed like that in a
pipe too. Exit codes: 0 done, 1 failed with the reason on standard error, 2 wrong usage or configuration.
"""

EXAMPLES: Final[Mapping[str, str]] = {
    "serve": "--config /etc/gatewayd/gatewayd.toml",
    "demo": "--port 9000 --once",
    "openapi": "> openapi.json",
    "operations": "--json",
    "completion": "bash > ~/.local/share/bash-completion/completions/gatewayd",
    "man": "> gatewayd.1",
    "check-config": "--config gatewayd.toml",
    "migrate": "",
    "compact": "",
    "store copy": "--to postgresql://gatewayd@db.example.com/gatewayd --password-file /etc/gatewayd/db.password",
    "files send": "/var/lib/gatewayd",
    "files fetch": "/srv/documents",
    "init": '--public-url https://books.example.com --organization "Oak & Son" --email ann@example.com --name Ann',
    "doctor": "",
    "accept-clock": "",
    "backup": "--into /var/backups/gatewayd --keep 14",
    "restore": "/var/backups/gatewayd/monday --end-everything",
    "after-restore": "--end-everything --numbers-after 250",
    "verify": "/var/backups/gatewayd/monday",
    "instance-key rotate": "",
    "instance-key abandon": "--yes",
    "org create": '--name "Oak & Son"',
    "org list": "--json",
    "org rename": 'ORG_ID --name "Oak & Daughters"',
    "org suspend": "ORG_ID --reason 'The invoice of March is not paid.'",
    "org resume": "ORG_ID",
    "org delete": "ORG_ID",
    "user create": '--email ann@example.com --name "Ann Oak" --org ORG_ID --role owner',
    "user list": "--org ORG_ID",
    "user reset-password": "ann@example.com",
    "user unlock": "ann@example.com",
    "unlock": "--network 192.0.2.7",
    "user disable": "ann@example.com",
    "user enable": "ann@example.com",
    "user end-sessions": "ann@example.com",
    "member list": "--org ORG_ID",
    "member set-role": "--org ORG_ID --user ann@example.com --role admin",
    "member remove": "--org ORG_ID --user ann@example.com --hand-over-to bob@example.com",
    "member invite": "--org ORG_ID --email bob@example.com --role admin",
    "member list-invitations": "--org ORG_ID",
    "mail list": "--status failed",
    "mail show": "MAIL_ID",
    "mail resend": "MAIL_ID",
    "mail test": "--to ann@example.com",
    "audit": "--action user.sign_in_failed --since 7d",
    "access list": "--org ORG_ID --user ann@example.com",
    "access end": "lnk_01k0000000000000000000000a",
    "key create": "--org ORG_ID --user ann@example.com --name Shop --scope accounting:read --scope accounting:write",
    "key list": "--org ORG_ID",
    "key uses": "KEY_ID",
    "key revoke": "KEY_ID",
    "key rotate": "KEY_ID --overlap-hours 48",
    "tax requests": "--json",
    "tax request": "--key KEY_ID --attestation 'We meet the terms of use.'",
    "tax approve": "--key KEY_ID",
    "tax refuse": "--client CLIENT_ID --reason 'No terms of use.'",
    "tax connect": "--org ORG_ID --token-file tokens.json",
    "tax check-headers": "request.txt",
    "client list": "--json",
    "client revoke": "CLIENT_ID",
    "client add": "'Till' --redirect-uri https://till.example/callback --confidential --scope accounting:read",
    "client rotate-secret": "CLIENT_ID --overlap-hours 48",
    "client set-keys": "CLIENT_ID keys.json",
    "client remove": "CLIENT_ID",
    "entity list": "--org ORG_ID",
    "entity tax-year": "ENTITY_ID 2024-25 --qualifying-income 52000.00 --residence resident",
    "entity tax-years": "ENTITY_ID",
    "bank-account list": "--org ORG_ID",
    "bank-account transactions": "ACCOUNT_ID --org ORG_ID --limit 20",
    "bank-account balance": "ACCOUNT_ID 880.00 --date 2026-03-31 --note 'Foot of the paper statement'",
    "billing-client list": "--org ORG_ID",
    "bill add": "--org ORG_ID --supplier CLIENT_ID --number SI-20417"
    ' --date 2026-11-18 --description "Oak boards" --gross 288.00 --category costOfGoods --vat-code standard',
    "bill list": "--org ORG_ID --status overdue",
    "bill aged": "--org ORG_ID --as-of 2026-11-30",
    "bill pay": "BILL_ID --amount 50.00 --method bank_transfer",
    "invoice issue": "INVOICE_ID",
    "invoice send": "INVOICE_ID --to accounts@example.com --message 'Thank you for your order.'",
    "invoice mark-sent": "INVOICE_ID",
    "invoice sendings": "INVOICE_ID",
    "invoice link": "INVOICE_ID",
    "invoice recur list": "--org ORG_ID --status halted",
    "invoice recur show": "RECURRING_ID",
    "invoice recur pause": "RECURRING_ID",
    "invoice recur resume": "RECURRING_ID --missed skip",
    "invoice recur end": "RECURRING_ID",
    "invoice void": 'INVOICE_ID --reason "Issued twice"',
    "invoice pay": "INVOICE_ID --amount 504.00 --date 2026-11-20 --method bank_transfer",
    "invoice rate": "INVOICE_ID --fx-rate 0.7871",
    "invoice unpay": "INVOICE_ID --payment 1",
    "invoice delete": "INVOICE_ID",
    "invoice show": "INVOICE_ID --json",
    "invoice list": "--org ORG_ID --status overdue",
    "invoice numbering": "--org ORG_ID --pattern 'INV-{yyyy}-{000001}' --next 457",
    "quote list": "--org ORG_ID --status sent",
    "quote show": "QUOTE_ID",
    "quote issue": "QUOTE_ID",
    "quote send": "QUOTE_ID --issue",
    "quote accept": "QUOTE_ID --date 2026-11-20",
    "quote decline": "QUOTE_ID --reason 'Too dear'",
    "quote invoice": "QUOTE_ID --percent 30 --issue",
    "quote delete": "QUOTE_ID",
    "statement show": "CLIENT_ID --from 2026-10-01",
    "statement send": "CLIENT_ID --kind outstanding --to accounts@example.com",
    "statement aged": "--org ORG_ID --as-of 2026-11-30",
    "period list": "--org ORG_ID --status open",
    "period close": "PERIOD_ID",
    "period reopen": 'PERIOD_ID --reason "An invoice was forgotten"',
    "period seal": "PERIOD_ID --to year.zip",
    "period diff": "PERIOD_ID",
    "period verify-bundle": "year.zip --key=Y1HzKqBcuqTVX2dHdhm5HHJ1bH6bV6gZ8vVXk4kqYxM",
    "business list": "--org ORG_ID",
    "business pnl": "BUSINESS_ID --tax-year 2026-27 --group-by quarter",
    "business what-if": "BUSINESS_ID --tax-year 2026-27 --basis accruals",
    "obligation sync": "--entity ENTITY_ID --dry-run",
    "obligation list": "--org ORG_ID --status open --status overdue",
    "obligation fulfil": "OBLIGATION_ID --date 2026-11-05",
    "document list": "--org ORG_ID --folder FOLDER_ID --parse-status skipped",
    "document failed": "--org ORG_ID",
    "document show": "DOCUMENT_ID",
    "document text": "DOCUMENT_ID > text.txt",
    "document reparse": "--failed --org ORG_ID",
    "document reindex": "--org org_a1",
    "import bank": 'march.ofx --org ORG_ID --new-account "Current account"',
    "import broker": 'trades.csv --org ORG_ID --new-account "General account" --portfolio PORTFOLIO_ID',
    "import prices": "prices.csv --org ORG_ID",
    "import undo": "IMPORT_ID",
    "document import": "scans --org ORG_ID",
    "allocation add": "BANK_TRANSACTION_ID --business BUSINESS_ID --category adminCosts --amount 42.00 --vat 7.00",
    "allocation list": "--org ORG_ID --category turnover --from 2026-04-06",
    "allocation remove": "ALLOCATION_ID",
    "allocation match": "--org ORG_ID --account ACCOUNT_ID --apply 90",
    "allocation rule add": '--org ORG_ID --name Stationery --text "paper mill" --category adminCosts --vat standard',
    "allocation rule list": "--org ORG_ID",
    "allocation rule remove": "RULE_ID",
    "allocation rule learn": "BANK_TRANSACTION_ID --mode apply",
    "allocation rule apply": "--org ORG_ID --dry-run",
    "asset portfolio create": '--org ORG_ID --entity ENTITY_ID --name "Savings"',
    "asset portfolio list": "--org ORG_ID",
    "asset account create": 'PORTFOLIO_ID --name "Broker" --type brokerage --wrapper isa',
    "asset account list": "--org ORG_ID --portfolio PORTFOLIO_ID",
    "asset transaction add": "ACCOUNT_ID buy --date 2026-04-07 --isin GB00BH4HKS39 --quantity 500 --price 0.72",
    "asset transaction list": "--org ORG_ID --type buy --type sell --from 2026-04-06",
    "asset transaction reverse": 'TRANSACTION_ID --notes "Entered twice"',
    "asset positions": "--org ORG_ID --portfolio PORTFOLIO_ID --date 2026-04-05",
    "asset gains": "--org ORG_ID --entity ENTITY_ID --tax-year 2026-27 --csv gains.csv",
    "property list": "--org ORG_ID --status active",
    "tenancy list": "--org ORG_ID --property PROPERTY_ID",
    "rent due": "--org ORG_ID --business BUSINESS_ID --status late",
    "rent record": "TENANCY_ID 950.00 --date 2026-11-01 --method cash",
    "calendar create": '--org ORG_ID --name "Tax deadlines"',
    "calendar list": "--org ORG_ID",
    "calendar revoke": "CALENDAR_FEED_ID",
    "credits grant": '--org ORG_ID --amount 500 --expires 2027-03-31 --description "Welcome"',
    "credits void": "GRANT_ID",
    "credits refund": 'ENTRY_ID --amount 2 --description "The file was damaged"',
    "credits adjust": '--org ORG_ID --amount -12.5 --description "Counted twice"',
    "credits balance": "--org ORG_ID",
    "credits ledger": "--org ORG_ID --type usage --from 2026-11-01",
    "credits usage": "--org ORG_ID --timezone Europe/Paris",
    "credits import": "entries.csv --org ORG_ID",
    "plan create": 'studio --name "Studio" --included 1000 --rollover capped --price-monthly 12.00',
    "plan list": "--org ORG_ID",
    "plan retire": "studio",
    "plan set": "studio --org ORG_ID",
    "cost set": "vault.parse --credits 0.5 --unit page --from 2026-12-01",
    "cost list": "--at 2026-12-01",
    "lead create": '--org ORG_ID --source website --name "B. Birch"',
    "lead list": "--org ORG_ID",
    "opportunity list": "--org ORG_ID",
    "opportunity create": '--org ORG_ID --name "Oak doors" --lead LEAD_ID --amount 1234.50 --currency GBP',
    "opportunity move": "OPPORTUNITY_ID --stage won",
    "event emit": """lead.created --org ORG_ID --data '{"lead_id": "LEAD_ID", "source": "website", "status": "new"}'""",
    "webhook create": "--org ORG_ID --url https://example.com/hooks --event lead.created",
    "webhook list": "--org ORG_ID",
    "webhook update": "SUBSCRIPTION_ID --rotate-secret",
    "webhook delete": "SUBSCRIPTION_ID",
    "webhook deliveries": "SUBSCRIPTION_ID --status exhausted --since 2d --limit 10",
    "webhook delivery": "DELIVERY_ID",
    "webhook resend": "DELIVERY_ID",
    "webhook test": "SUBSCRIPTION_ID --event lead.created",
    "webhook recover": "SUBSCRIPTION_ID --since 2h --dry-run",
    "webhook listen": "--org ORG_ID --event lead.created --json",
    "listen": "--org ORG_ID --forward-to http://localhost:3000/hooks",
    "dev tax-stub": "--port 9000",
}
"""What follows each command's name in its example."""

EVERYWHERE: Final = frozenset({"help", "config"})
"""Arguments that the header describes."""


def reference() -> str:
    """The whole file: a section for each command, in the order of the help text."""
    sections = ["\n".join(_section(name, parser)) for name, parser in commands(build_parser())]
    return "\n".join([HEADER, *sections])


def commands(parser: argparse.ArgumentParser, name: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command that can be run, as `org create`, with its parser."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield name, parser
    for group in groups:
        for word, child in group.choices.items():
            yield from commands(child, f"{name} {word}".strip())


def example(name: str) -> str:
    """A line that a person may type."""
    return f"gatewayd {name} {EXAMPLES[name]}".rstrip()


def _section(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield from (f"## `gatewayd {name}`", "", parser.description or "", "", f"    {example(name)}", "")
    arguments = [action for action in parser._actions if action.dest not in EVERYWHERE]
    if arguments:
        yield from ("| argument | needed | meaning |", "|---|---|---|", *map(_row, arguments), "")


def _row(action: argparse.Action) -> str:
    """Spelling, whether it is needed, meaning."""
    spelling = " ".join(filter(None, [", ".join(action.option_strings), value(action)]))
    explained = meaning(action).replace("|", r"\|")
    return f"| `{spelling}` | {'yes' if action.required else ''} | {explained} |"


def meaning(action: argparse.Action) -> str:
    """What the argument is for, what it may be, what it is when absent; empty if its name says all."""
    return "; ".join(_meanings(action))


def _meanings(action: argparse.Action) -> Iterator[str]:
    if action.help:
        yield action.help
    if action.choices:
        yield f"one of {', '.join(map(str, action.choices))}"
    told = action.default is argparse.SUPPRESS or "default" in (action.help or "")
    if action.default and action.option_strings and not told:
        yield f"default {action.default}"


def value(action: argparse.Action) -> str:
    """The placeholder of the argument's value; empty for a flag."""
    return "" if action.nargs == 0 else str(action.metavar or action.dest.upper())
