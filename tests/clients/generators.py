"""Clients that others generate from the description: made, type-checked and run as somebody's program would be.

Each is generated from the file that is checked in, which is the description that is served, into a folder `books`; a
program of `generated/` beside it makes the calls.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from tests.clients.programs import HERE, MODULES, needed_java, needed_node, recent_node
from tests.contract.generate import FILE
from tests.daemon.instance import environment

SECONDS = 900.0
"""The longest that a generator or a compiler may take, on a machine that does other things too."""

SETTINGS_OF_PYTHON_CLIENT = {
    "post_hooks": [],  # its own are formatters
    "content_type_overrides": dict.fromkeys(["application/pdf", "application/xml"], "application/octet-stream"),
}
"""Of openapi-python-client, which knows files by that type alone."""

_STRICT = "[mypy]\nstrict = true\n"
_TSCONFIG = {
    "compilerOptions": {
        "strict": True,
        "noEmit": True,
        "target": "es2022",
        "module": "esnext",
        "moduleResolution": "bundler",
        "lib": ["es2023", "dom", "dom.iterable"],
        "types": [],
        "skipLibCheck": True,
    },
}


def openapi_python_client(directory: Path) -> str:
    """Generated without one warning; `mypy --strict`."""
    (directory / "config.json").write_text(json.dumps(SETTINGS_OF_PYTHON_CLIENT))
    command = [str(_program("openapi-python-client")), "generate", "--path", str(FILE), "--config", "config.json"]
    run([*command, "--meta", "none", "--output-path", "books", "--fail-on-warning"], directory)
    return called_by_python(directory, "openapi_python_client_calls.py", _STRICT)


def openapi_generator_for_python(directory: Path) -> str:
    """As its own settings for mypy are, which are all that is in `strict` but what its runtime is not typed for."""
    openapi_generator(directory, "python", "--package-name", "books", "--output", "client")
    (directory / "client" / "books").rename(directory / "books")
    settings = (directory / "client" / "pyproject.toml").read_text("utf-8")
    return called_by_python(directory, "openapi_generator_calls.py", settings)


def datamodel_code_generator(directory: Path) -> str:
    """Models of pydantic; `mypy --strict`. Members of enumerations are in capitals, or one would hide `str.split`."""
    options = ["--output-model-type", "pydantic_v2.BaseModel", "--target-python-version", "3.11", "--use-annotated"]
    command = [str(_program("datamodel-codegen")), "--input", str(FILE), "--input-file-type", "openapi"]
    more = ["--capitalise-enum-members", "--formatters", "builtin", "--output", "books.py"]
    run([*command, *options, *more], directory)
    return called_by_python(directory, "datamodel_calls.py", f"{_STRICT}plugins = pydantic.mypy\n")


def openapi_typescript(directory: Path) -> str:
    """Types for openapi-fetch; `tsc --strict`, as the others."""
    run_script("openapi-typescript/bin/cli.js", [str(FILE), "-o", "books/schema.d.ts"], directory)
    return called_by_typescript(directory, "openapi_typescript_calls.ts")


def hey_api(directory: Path) -> str:
    """The client of @hey-api/openapi-ts for `fetch`."""
    plugins = ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"]
    settings = {"input": str(FILE), "output": "books", "plugins": plugins, "logs": {"file": False}}
    (directory / "settings.mjs").write_text(f"export default {json.dumps(settings)}")
    run_script("@hey-api/openapi-ts/bin/run.js", ["-f", "settings.mjs"], directory)
    return called_by_typescript(directory, "hey_api_calls.ts")


def orval(directory: Path) -> str:
    """The client of orval for `fetch`."""
    output = {
        "target": "./books/books.ts",
        "schemas": "./books/model",
        "client": "fetch",
        "mode": "single",
    }
    settings = {"books": {"input": {"target": str(FILE)}, "output": output}}
    (directory / "settings.cjs").write_text(f"module.exports = {json.dumps(settings)}")
    run_script("orval/dist/bin/orval.mjs", ["--config", "./settings.cjs"], directory)
    return called_by_typescript(directory, "orval_calls.ts")


def openapi_generator_for_typescript(directory: Path) -> str:
    """Its client for `fetch`."""
    openapi_generator(directory, "typescript-fetch", "--output", "books")
    return called_by_typescript(directory, "openapi_generator_calls.ts")


GENERATORS = (
    openapi_python_client,
    openapi_generator_for_python,
    datamodel_code_generator,
    openapi_typescript,
    hey_api,
    orval,
    openapi_generator_for_typescript,
)
"""Each takes an empty folder, and answers the program in it that makes the calls. Fails where one line is refused."""


def openapi_generator(directory: Path, target: str, *options: str) -> None:
    """Run the Java program that its Python package brings. Skips the test as `needed_java` does."""
    jar = distribution("openapi-generator-cli").locate_file("openapi_generator_cli/openapi-generator.jar")
    run([needed_java(), "-jar", str(jar), "generate", "-g", target, "-i", str(FILE), *options], directory)


def called_by_python(directory: Path, name: str, settings: str) -> str:
    """Put the program beside what was generated, and check the types of both."""
    shutil.copy(HERE / "generated" / name, directory / "calls.py")
    file = directory / ("pyproject.toml" if settings.startswith("[project]") else "mypy.ini")
    file.write_text(settings)
    run([sys.executable, "-m", "mypy", "--config-file", file.name, "-p", "books", "-m", "calls"], directory)
    return "calls.py"


def called_by_typescript(directory: Path, name: str) -> str:
    """The same with the compiler of TypeScript, and one file of it that Node takes."""
    shutil.copy(HERE / "generated" / name, directory / "calls.ts")
    (directory / "tsconfig.json").write_text(json.dumps({**_TSCONFIG, "include": ["calls.ts", "books/**/*.ts"]}))
    run_script("typescript/bin/tsc", ["-p", "tsconfig.json"], directory)
    bundle = ["calls.ts", "--bundle", "--platform=node", "--format=esm", "--outfile=calls.mjs"]
    run_script("esbuild/bin/esbuild", bundle, directory)
    return "calls.mjs"


def run_script(script: str, arguments: Sequence[str], directory: Path) -> None:
    """Run a program of the lock with a Node that is new enough for it. Skips the test as `needed_node` does."""
    needed_node()
    if not (directory / "node_modules").exists():
        (directory / "node_modules").symlink_to(MODULES)
    run([recent_node(), str(MODULES / script), *arguments], directory)


def run(command: Sequence[str], directory: Path, **environ: str) -> str:
    """Run a program to its end in a folder; answers what it prints. Fails with all of it where it fails."""
    done = subprocess.run(
        command,
        cwd=directory,
        env=environment(**environ),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def called(directory: Path, program: str, base_url: str, key: str) -> Any:
    """What the program found."""
    runner = sys.executable if program.endswith(".py") else recent_node()
    return json.loads(run([runner, program], directory, BASE_URL=base_url, API_KEY=key))


def _program(name: str) -> Path:
    return Path(sys.executable).with_name(name)
