# Every target sets up what it needs, on a machine with Python 3.11 or newer, bash and make.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# The first Python found that the project and the newest Lambda runtime both know.
PYTHON ?= $(shell for name in python3.14 python3.13 python3.12 python3.11 python3 python; do \
	"$$name" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null \
	&& command -v "$$name" && break; done)
UV := $(or $(shell command -v uv 2>/dev/null),.tools/uv/bin/uv)

# The local stack runs on this machine's Python and processor; the template's defaults are production's.
LOCAL_RUNTIME = $(shell $(PYTHON) -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
LOCAL_ARCHITECTURE = $(shell $(PYTHON) -c 'import platform; print({"aarch64": "arm64"}.get(platform.machine(), platform.machine()))')
PRODUCTION_PYTHON = $(shell awk '/^  PythonRuntime:/ {found = 1} found && /Default:/ {sub("python", "", $$2); print $$2; exit}' template.yaml)
RUNTIME ?= $(LOCAL_RUNTIME)
ARCHITECTURE ?= $(LOCAL_ARCHITECTURE)

export UV_PYTHON_DOWNLOADS := never
# Trust what the machine trusts: many offices have a certificate authority of their own.
export UV_SYSTEM_CERTS := 1
export SAM_CLI_TELEMETRY := 0

SOURCES := $(shell find functions shared -type f -not -name '*.pyc' 2>/dev/null)

.PHONY: help setup demo test check law simulate faults bench up down build lock clean

help:
	@echo 'make setup   the environment at .venv, with the retiro command in it'
	@echo 'make demo    a semester, from enrolment to posted yields, on the local cloud'
	@echo 'make test    every test'
	@echo 'make check   style, types, imports, template, production wheels'
	@echo 'make law     the statutes, a line a clause'
	@echo 'make simulate SEEDS=300   the ledger and the runs under simulated faults'
	@echo 'make faults  a run over 3,000 accounts while workers are killed, calls cut and the cloud restarted'
	@echo 'make bench   what a posting, a cold start, the rule, a rebuild and a whole run cost, measured'
	@echo 'make up      start the local cloud and deploy to it;  make down  stop it and clean up'

setup: .venv/.ready

.tools/uv/bin/uv: tools/uv.txt
	@test -n '$(PYTHON)' || { echo 'Python 3.11 to 3.14 is needed, and was not found.' >&2; exit 1; }
	'$(PYTHON)' -m venv .tools/uv
	.tools/uv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tools/uv.txt
	touch $@

.venv/.ready: pyproject.toml uv.lock | $(UV)
	'$(UV)' sync --quiet --locked --python '$(PYTHON)'
	touch $@

# MiniStack and SAM CLI pin the AWS libraries that the project also uses, so each has an environment of its own.
.tools/%/.ready: tools/%.txt | $(UV)
	'$(UV)' venv --quiet --clear --python '$(PYTHON)' .tools/$*
	'$(UV)' pip install --quiet --python .tools/$*/bin/python --require-hashes -r tools/$*.txt
	touch $@

# Compiled by the interpreter that will run it, and never checked against file times: a zip resets those, and
# a function's folder is read-only, so other bytecode would be made anew at each cold start.
build: .aws-sam/.built-$(RUNTIME)-$(ARCHITECTURE)

.aws-sam/.built-$(RUNTIME)-$(ARCHITECTURE): template.yaml $(SOURCES) .tools/sam/.ready
	rm -rf .aws-sam
	.tools/sam/bin/sam build --parameter-overrides PythonRuntime=$(RUNTIME) Architecture=$(ARCHITECTURE) >.sam-build.log 2>&1 \
		|| { cat .sam-build.log >&2; exit 1; }
	rm .sam-build.log
	find .aws-sam/build -name __pycache__ -prune -exec rm -rf {} +
	$(RUNTIME) -m compileall -q -f --invalidation-mode unchecked-hash .aws-sam/build
	touch $@

up: setup build .tools/ministack/.ready
	.venv/bin/retiro cloud up

down: setup
	.venv/bin/retiro cloud down

demo: setup build .tools/ministack/.ready
	.venv/bin/retiro demo

test: setup build .tools/ministack/.ready
	.venv/bin/pytest -n 2

SEEDS ?= 300

simulate: setup
	PYTHONPATH=shared:functions .venv/bin/python -m tests.simulation --seeds $(SEEDS)

faults: setup build .tools/ministack/.ready
	PYTHONPATH=shared:functions .venv/bin/python -m tests.cloud.faults

bench: setup build .tools/ministack/.ready
	PYTHONPATH=shared:functions .venv/bin/python -m bench

law: setup
	.venv/bin/retiro law

check: setup .tools/sam/.ready
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	PYTHONPATH=shared:functions .venv/bin/lint-imports
	.venv/bin/cfn-lint
	.tools/sam/bin/sam validate --lint
	'$(UV)' pip compile --quiet --no-header --only-binary :all: --python-platform aarch64-manylinux_2_28 \
		--python-version $(PRODUCTION_PYTHON) shared/requirements.txt -o /dev/null

# After a change of versions in pyproject.toml or tools/*.in.
lock: | $(UV)
	'$(UV)' lock
	for tool in uv sam ministack; do \
		'$(UV)' pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header "tools/$$tool.in" -o "tools/$$tool.txt"; \
	done

clean: down
	rm -rf .aws-sam .local build .tools .venv
