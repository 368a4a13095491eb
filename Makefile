# gatewayd: what a developer and a first-time user run. Needs Python 3.11 or later, git, make and a package index.
#
#   make program .venv/bin/gatewayd, and nothing outside of this folder
#   make install the program, its unit and its user on this machine   PREFIX=/opt/gatewayd
#   make demo    the main job on a seeded instance        ARGS="--port 9000 --once"
#   make run     the daemon with your configuration       ARGS="--config FILE"
#   make test    the whole suite on both engines, or a part of it on SQLite   ARGS="tests/config -q", WORKERS=0: in one process
#   make test-postgresql   what of it runs on PostgreSQL, or a part        ARGS="tests/areas/crm -q"
#   make check   lint, formatting, types, structure
#   make soak    the tests that kill the daemon, crowd its door or take chances, at length
#   make bench   the benchmarks, side by side in one run    ARGS="--quick"
#   make mutants change the code and see a test fail        ARGS="gatewayd/money.py"
#   make viewer  take a version of what draws /docs into the tree   VERSION=1.76.0
#   make generate, make lock, make clients, make clean

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help program install install-program install-service demo run test test-postgresql soak check lint bench mutants generate viewer lock clients clean

ARGS ?=
# One more than there are cores: many a test waits for a browser or another process.
WORKERS ?= $(shell expr 1 + $$(nproc 2>/dev/null || echo 2))
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime-installed
DEV := $(VENV)/.dev-installed
LOCK_TOOL := build/lock-tool
CLIENTS := tests/clients/node_modules/.installed
# The suites that run on PostgreSQL as well as on SQLite.
ON_BOTH := $(addprefix tests/,areas clients daemon identity leases ledger mail performing tax webhooks)

# What tests write is gone after them. In memory, where there is room, nothing waits for a disk.
export PYTEST_DEBUG_TEMPROOT ?= $(shell test -w /dev/shm && \
  df --output=avail /dev/shm 2>/dev/null | awk 'NR == 2 && $$1 > 4000000 { print "/dev/shm" }')

# What Python compiles is kept, whatever the shell says: each worker and each daemon would compile all of it anew.
export PYTHONDONTWRITEBYTECODE :=

# pip may neither ask nor look for newer versions of itself; the locks decide, and each file must have a known hash.
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
PIP_INSTALL = $(BIN)/python -m pip install --quiet
# The project itself, without fetching anything: its build backend is in the locks.
INSTALL_SELF = $(PIP_INSTALL) --no-deps --no-build-isolation --editable .

# An environment belongs to its path and its interpreter. Where either changed, it and what stands in it is made anew.
STALE := $(shell [ ! -e $(BIN)/python ] || { \
  grep -qxF "executable = $$(readlink -f $(BIN)/python)" $(VENV)/pyvenv.cfg && \
  grep -q "^command = .* $$(readlink -f $(VENV))\$$" $(VENV)/pyvenv.cfg; } || echo stale)
ifneq ($(STALE),)
$(shell rm -f $(BIN)/python $(RUNTIME) $(DEV))
endif

# The first interpreter that is new enough and can make environments makes one at $$venv; $$how is a flag more for it.
MAKE_ENVIRONMENT = for python in python3.11 python3.12 python3.13 python3.14 python3; do \
	  if "$$python" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "making $$venv with $$("$$python" --version)"; \
	    exec "$$python" -m venv $$how "$$venv"; \
	  fi; \
	done; \
	echo 'gatewayd needs Python 3.11 or later with its venv module (on Debian: python3-venv)' >&2; \
	exit 1

help:
	@sed -n '/^#   /s/^#   //p' Makefile

program: $(RUNTIME)

demo: $(RUNTIME)
	@$(BIN)/gatewayd demo $(ARGS)

run: $(RUNTIME)
	@$(BIN)/gatewayd serve $(ARGS)

# The second session is one of its own: what no test sees or gives is told of a whole run, which the first is.
test: $(DEV) $(CLIENTS)
	@$(BIN)/python -m pytest --numprocesses=$(WORKERS) --dist=worksteal $(ARGS)
	@$(if $(ARGS),,echo 'the suites of both engines, on PostgreSQL' && $(MAKE) --no-print-directory test-postgresql)

# Where there is no PostgreSQL its tests say so, each of them.
test-postgresql: $(DEV)
	@GATEWAYD_TEST_STORE=postgresql $(BIN)/python -m pytest --numprocesses=$(WORKERS) --dist=worksteal $(or $(ARGS),$(ON_BOTH))

soak: $(DEV)
	@GATEWAYD_KILL_ROUNDS=50 GATEWAYD_METERING_KILLS=20 GATEWAYD_WEBHOOK_KILLS=20 GATEWAYD_MAIL_KILLS=10 GATEWAYD_STORE_KILLS=60 \
	  $(BIN)/python -m pytest tests/daemon/test_kill.py tests/daemon/test_metering.py tests/daemon/test_webhooks_killed.py tests/daemon/test_mail_killed.py tests/daemon/test_events_killed.py tests/store/test_durability.py $(ARGS)
	@GATEWAYD_SCHEDULES=100 GATEWAYD_EXAMPLES=30 \
	  $(BIN)/python -m pytest tests/webhooks/test_random_schedules.py tests/clients/test_schemathesis.py $(ARGS)
	@GATEWAYD_UPLOAD_BYTES=1073741824 GATEWAYD_KILL_ROUNDS=30 $(BIN)/python -m pytest -s tests/daemon/test_vault_uploads.py $(ARGS)
	@GATEWAYD_MUTATIONS=2000 GATEWAYD_TEXT_BYTES=1000000 $(BIN)/python -m pytest tests/extraction/test_hostile.py tests/extraction/facts/test_hostile_texts.py $(ARGS)
	@GATEWAYD_BOOKS=100 $(BIN)/python -m pytest tests/areas/businesses/test_pnl_invariants.py tests/areas/landlord/test_property_pnl_invariants.py $(ARGS)
	@GATEWAYD_COPIES=20 $(BIN)/python -m pytest tests/contract/test_copying.py $(ARGS)
	@GATEWAYD_CROWD=16 $(BIN)/python -m pytest -s tests/daemon/test_crowds.py $(ARGS)

check: lint
	$(BIN)/python -m pytest --numprocesses=$(WORKERS) tests/structure

lint: $(DEV)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(DEV)
	@$(BIN)/python -m tests.bench $(ARGS)

mutants: $(DEV)
	@nice -n 10 $(BIN)/python -m tests.mutants $(ARGS)

generate: $(DEV)
	@$(BIN)/python -c 'from pathlib import Path; from gatewayd.config import example; Path("conf/gatewayd.toml").write_text(example(), "utf-8")'
	@$(BIN)/python -c 'from gatewayd.store.sqlite import schema; schema.schema_file().write_text(schema.render_schema_file(), "utf-8")'
	@$(BIN)/python -m tests.store.postgres.generate
	@$(BIN)/python -c 'from pathlib import Path; from gatewayd.cli.reference.commands import reference; Path("docs/commands.md").write_text(reference(), "utf-8")'
	@$(BIN)/python -c 'from pathlib import Path; from gatewayd.cli.reference.manual import manual; Path("docs/gatewayd.1").write_text(manual(), "utf-8")'
	@$(BIN)/python -m tests.contract.answers
	@$(BIN)/python -m tests.contract.generate
	@$(BIN)/python -m tests.contract.files_of_operations
	@$(BIN)/python -m tests.structure.house

# Then the hash that it says goes into tests/console/test_reference.py, and decision 0031 is looked at again.
viewer: $(DEV)
	@$(BIN)/python -m tests.console.viewer $(VERSION)

# --- environment: a stamp is written only after its install ended well, so an interrupted one is taken up again ---------

# Absent or half made (no pip): made anew. The first interpreter that is new enough and can make environments.
$(BIN)/python:
	@venv=$(VENV); how=--clear; $(MAKE_ENVIRONMENT)

$(RUNTIME): requirements.lock pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null
	@echo 'installing what requirements.lock names'
	@$(PIP_INSTALL) --require-hashes --requirement requirements.lock
	@$(INSTALL_SELF)
	@touch $@

# After the runtime, never beside it: two installs into one environment would meet.
$(DEV): requirements-dev.lock $(RUNTIME)
	@echo 'installing what requirements-dev.lock names'
	@$(PIP_INSTALL) --require-hashes --requirement requirements-dev.lock
	@touch $@

# Other people's clients from npm. Without node and npm nothing is installed, and the tests name what they skip.
clients: $(CLIENTS)

$(CLIENTS): tests/clients/package-lock.json tests/clients/package.json
	@if command -v node >/dev/null && command -v npm >/dev/null; then \
	  echo 'installing what tests/clients/package-lock.json names'; \
	  if [ -L $(@D) ]; then rm $(@D); fi; `# of another checkout, which npm would empty` \
	  npm ci --prefix tests/clients --loglevel=error; \
	  touch $@; \
	fi

# --- installation: the program in an environment of its own, then what systemd needs; again to upgrade -----------------

PREFIX ?= /opt/gatewayd
UNITS ?= /usr/local/lib/systemd/system
PROGRAMS ?= /usr/local/bin

install: install-program install-service

# Never --clear where something else may lie: a wrong PREFIX must cost nobody their files.
install-program:
	@umask 022; venv='$(PREFIX)'; how=; \
	if "$$venv/bin/python" -m pip --version >/dev/null 2>&1 && [ -e "$$venv/pyvenv.cfg" ]; then exit 0; fi; \
	if [ -e "$$venv/pyvenv.cfg" ]; then how=--clear; \
	elif [ -n "$$(ls -A "$$venv" 2>/dev/null)" ]; then echo "$$venv holds something else: choose another PREFIX" >&2; exit 1; fi; \
	$(MAKE_ENVIRONMENT)
	@echo 'installing what requirements.lock names, then gatewayd, in $(PREFIX)'
	@umask 022; '$(PREFIX)/bin/python' -m pip install --quiet --require-hashes --requirement requirements.lock
	@umask 022; '$(PREFIX)/bin/python' -m pip install --quiet --no-deps --no-build-isolation --force-reinstall .

# DESTDIR is for looking at it: then neither the user is made nor systemd told.
install-service:
	@install -d '$(DESTDIR)$(UNITS)' '$(DESTDIR)$(PROGRAMS)'
	@for unit in gatewayd.service gatewayd.socket; do \
	  sed 's#/opt/gatewayd#$(PREFIX)#g' "systemd/$$unit" > "$(DESTDIR)$(UNITS)/$$unit"; \
	  chmod 644 "$(DESTDIR)$(UNITS)/$$unit"; \
	done
	@ln -sfn '$(PREFIX)/bin/gatewayd' '$(DESTDIR)$(PROGRAMS)/gatewayd'
	@if [ -z '$(DESTDIR)' ] && command -v systemd-sysusers >/dev/null; then systemd-sysusers '$(CURDIR)/systemd/gatewayd.sysusers'; fi
	@if [ -z '$(DESTDIR)' ] && [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
	@echo 'installed $(PREFIX), $(PROGRAMS)/gatewayd and the unit in $(UNITS)'
	@case "$$(readlink -m '$(PREFIX)/bin/python')" in /home/*|/root/*|/run/user/*) \
	  echo 'but its Python lies in a home directory, which the unit cannot see: put one of this machine first in PATH,' \
	    'remove $(PREFIX), and run this again' >&2;; \
	esac

# --- locks: versions and hashes, no address of any index; `make lock ARGS=--upgrade` takes the newest versions ----------

COMPILE = $(LOCK_TOOL)/bin/uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' $(ARGS)

lock: $(LOCK_TOOL)/bin/uv
	@$(LOCK_TOOL)/bin/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' > build/backend.txt
	@$(COMPILE) --extra semantic --output-file requirements.lock pyproject.toml build/backend.txt
	@$(COMPILE) --constraint requirements.lock --extra semantic --extra postgresql --extra s3 --extra dev --output-file requirements-dev.lock pyproject.toml build/backend.txt

$(LOCK_TOOL)/bin/uv: | $(BIN)/python
	@$(BIN)/python -m venv --clear $(LOCK_TOOL)
	@$(LOCK_TOOL)/bin/python -m pip install --quiet uv

clean:
	rm -rf $(VENV) build dist tests/clients/node_modules .mypy_cache .ruff_cache .hypothesis .pytest_cache
	find gatewayd tests -type d -name __pycache__ -prune -exec rm -rf {} +
