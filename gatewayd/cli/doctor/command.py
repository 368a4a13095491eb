"""`gatewayd doctor`: checks what the daemon depends on, and says in plain sentences what it found."""

import argparse

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import print_document
from gatewayd.cli.parser import Subparsers, add_command
from gatewayd.doctor.checks import CHECKS


def add_commands(subparsers: Subparsers) -> None:
    """Add `doctor`."""
    add_command(subparsers, "doctor", "look for what would hinder the daemon; 1 if something does", doctor, json=True)


def doctor(arguments: argparse.Namespace, context: Context) -> int:
    """It changes nothing. The settings are checked before anything else, as by `check-config`."""
    findings = [finding for check in CHECKS for finding in check.look(context)]
    if arguments.json:
        print_document([finding._asdict() for finding in findings])
    else:
        for finding in findings:
            print(f"{'ok' if finding.well else 'WRONG':5}  {finding.about}: {finding.sentence}")
    wrong = sum(not finding.well for finding in findings)
    if wrong:
        raise CommandError("1 thing is wrong" if wrong == 1 else f"{wrong} things are wrong")
    return 0
