"""moto's server, in a process of its own: it says where it listens, and ends with its standard input.

With `guarded` it asks for signatures, and says whose it takes: a key's id, its secret, and a bucket that it may use.
"""

import json
import sys

from moto.core import DEFAULT_ACCOUNT_ID, set_initial_no_auth_action_count
from moto.iam.models import iam_backends
from moto.s3.models import s3_backends
from moto.server import ThreadedMotoServer

_ALL = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}


def owner() -> tuple[str, str, str]:
    """The id and the secret of a key that may do everything, and a bucket."""
    people = iam_backends[DEFAULT_ACCOUNT_ID]["aws"]
    people.create_user("us-east-1", "books")
    people.put_user_policy("books", "all", json.dumps(_ALL))
    key = people.create_access_key("books")
    s3_backends[DEFAULT_ACCOUNT_ID]["aws"].create_bucket("guarded", "us-east-1")
    return key.access_key_id, key.secret_access_key, "guarded"


def serve() -> None:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    words = owner() if "guarded" in sys.argv else ()
    print("{}:{}".format(*server.get_host_and_port()), *words, flush=True)
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    set_initial_no_auth_action_count(0)(serve)() if "guarded" in sys.argv else serve()
