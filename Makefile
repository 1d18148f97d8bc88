# `make demo` and `make test` are all one needs; they set up .venv on their own.
# Needs Python 3.11 or later, make and a network (or a local package index) once.

SHELL := /bin/sh
BIN := .venv/bin
# Processes that run tests: many tests wait for time-outs and pauses, so more than there are cores.
JOBS ?= 4
CHECKED := qiaocrawl spiders pipelines middlewares benchmarks scripts tests

.DEFAULT_GOAL := help
.PHONY: help demo install test test-all test-versions test-image release format messages lint audit clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-13s %s\n", $$1, $$2}' Makefile

demo: ## the main job end to end, offline, on the built-in demo web
	@scripts/install.sh
	@$(BIN)/qiaocrawl demo

install: ## .venv with everything the project needs to run
	@scripts/install.sh

# mypy takes a minute of one core; what it said comes last.
test: ## every promise: set up what tests need, ruff, mypy, pytest (ARGS="-k word" chooses)
	@scripts/install.sh test
	@scripts/setup-test-needs.sh
# The compiler may have come only now; else this returns at once.
	@scripts/install.sh test
	@$(MAKE) --no-print-directory ruff; checked=$$?; \
	  said=$$(mktemp); $(MAKE) --no-print-directory mypy >"$$said" 2>&1 & mypy=$$!; \
	  trap 'kill $$mypy 2>/dev/null; rm -f "$$said"' EXIT; \
	  echo '$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(ARGS)'; \
	  $(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(ARGS) || checked=$$?; \
	  wait $$mypy || checked=$$?; cat "$$said"; exit $$checked

test-all: ## the same in every way: both databases, 200 examples, kill campaigns, newest servers
	@$(MAKE) --no-print-directory test ARGS="--all $(ARGS)"

test-versions: ## a chosen part on Python 3.11 to 3.14 with the newest of all packages (VERSIONS="3.13 3.14" chooses)
	@scripts/install.sh test
	@$(BIN)/python scripts/pythons.py $(VERSIONS) $(if $(ARGS),-- $(ARGS))

format: ## code as ruff writes it, imports sorted
	@scripts/install.sh test
	$(BIN)/ruff check --fix-only $(CHECKED)
	$(BIN)/ruff format $(CHECKED)

messages: ## the catalogue of Chinese messages, brought up to date and compiled
	@scripts/install.sh test
	@$(BIN)/python scripts/messages.py

lint: ## ruff and mypy
	@scripts/install.sh test
	@$(MAKE) --no-print-directory -k ruff mypy

# Two targets, so that with -k one runs when the other fails.
.PHONY: ruff mypy
ruff:
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/ruff format --check --quiet $(CHECKED)
mypy:
	$(BIN)/mypy

audit: ## known vulnerabilities of the pinned versions (asks the package registry)
	@python3 scripts/audit.py

test-image: ## the Dockerfile built and compose.yaml's services run from it (root; buildah, debootstrap)
	@scripts/install.sh test
	@$(BIN)/python scripts/image.py $(ARGS)

release: ## a release in dist/VERSION, on trial (VERSION=1.2.3; FOR_REAL=1 commits and tags)
	@scripts/install.sh test
	@$(BIN)/python scripts/release.py $(or $(VERSION),none) $(if $(FOR_REAL),--for-real)

clean: ## environments, test servers, caches and builds go; data/ stays
	rm -rf .venv .versions .servers build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find $(CHECKED) -name __pycache__ -prune -exec rm -rf {} +
