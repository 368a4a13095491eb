"""What to do about what is wrong, by what it is about: for pages, where a finding stands without the manual."""

from typing import Final

ADVICE: Final = {
    "TLS": "Renew the certificate, put it where server.tls_certificate and server.tls_key name it, and reload.",
    "TLS key": "Take the key away from others: chmod 640, with the group of the daemon.",
    "TLS, as served": "Reload the daemon. Where it goes on, its log says why the files were refused.",
    "clock": "Set the machine's clock, best by NTP. Where it is right, run gatewayd accept-clock.",
    "credential": "Nothing: the service manager passes it to the daemon.",
    "daemon": "Let store.directory and $STATE_DIRECTORY name one data directory for the daemon and for commands.",
    "data directory": "Give the directory to the daemon's user alone: chown, then chmod 700.",
    "database": "Run gatewayd verify. Where it is damaged, restore the last backup that is whole.",
    "database connection": "Say sslmode=verify-full in store.url, and sslrootcert where the authority is your own.",
    "database password": "Put the file where store.password_file names it, for the daemon's user alone: chmod 600.",
    "database server": "Set the server up as the sentence says, and restart it.",
    "database sessions": "Raise max_connections of the server, or the limit of the database or its user.",
    "disk": "Make room: older backups, logs and the copy from before the last upgrade may go.",
    "documents": "Install bubblewrap, or a kernel with landlock and seccomp. The log says why a reader does not start.",
    "durability": "Let commits wait for the disk, and for the standby: synchronous_commit = on.",
    "instance key": "Put back the copy of the key that you keep elsewhere, for the daemon's user alone: chmod 600.",
    "mail": "See why in gatewayd mail list; once that is mended, gatewayd mail resend tries again.",
    "mail server": "Look at mail.host, mail.port and mail.security, and at the user and the password.",
    "plain HTTP": "Set server.tls_certificate, or listen on 127.0.0.1 behind a proxy that ends TLS.",
    "proxy": "Name the proxy in server.trusted_proxies.",
    "public URL": "Let server.public_url lead here: look at DNS, the proxy in front, and where the daemon listens.",
    "readiness": "See what is not ready above.",
    "restore": "Run gatewayd after-restore and say what holds.",
    "sealed secrets": "Put back the key of that time. Where it is lost, gatewayd instance-key abandon says what is.",
    "search": "Install what is missing, or set vault.embeddings to off.",
    "shared documents": "Mount the folder, or let the bucket be reached, and make room.",
    "tax client": "Put the id and the secret that the authority gave into tax.client_id and tax.client_secret_file.",
    "tax client secret": "Put the secret where tax.client_secret_file names it, for its user alone: chmod 600.",
    "tax connection": "Have somebody of the organization connect again, on its page Tax access.",
    "tax connections": "Nothing: whoever needs taxes connects on the page Tax access.",
    "tax upstream": "Let this machine reach the address, by its name and with a certificate that is good for it.",
    "text in pictures": "Install the languages that the sentence names.",
    "unix socket": "Put the proxy's user into the group of the socket.",
    "upgrade": "Delete the copy once you know that you keep the new version.",
    "webhooks": "Look at the log of deliveries for what the receiver says, and switch the subscription on again.",
}
"""A sentence for each `about` of a finding; those of tax connections go on with an id."""


def advice_about(about: str) -> str:
    """What to do; empty: it is not known."""
    return ADVICE.get(about) or next((text for name, text in ADVICE.items() if about.startswith(f"{name} of ")), "")
