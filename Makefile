# make demo          set up everything, run the main job, serve http://127.0.0.1:8000
# make demo ONCE=1   the same without serving; OUT=file.json writes the table
# make demo CMS=djangocms | CMS=wagtail   the same as real pages of a content system
# make test          set up everything, run every check and test
# make bench | chaos | races   bounded measurements, not part of the tests

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
OMP_WAIT_POLICY := PASSIVE
export OMP_WAIT_POLICY

.PHONY: help demo test lint typecheck bench chaos races serve clean screenshots

help:
	@sed -n 's/^# \{0,1\}//p' Makefile | head -6

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or later is needed to run this. Install it and call: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || \
	  { echo "Python's venv module is needed to install into .venv. On Debian: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing the site and the captioner into $(VENV). PyTorch is large; this takes minutes once."
	@date +%s > $(VENV)/.started
	$(PIP) install --quiet --progress-bar on -c constraints.txt -e ".[starter,page,demo,postgres]"
	@echo "Installed in $$(( $$(date +%s) - $$(cat $(VENV)/.started) )) s."
	@touch $@

$(VENV)/.demo-djangocms $(VENV)/.demo-wagtail: $(VENV)/.demo-%: $(VENV)/.demo
	@echo "Installing the content system of the example site."
	$(PIP) install --quiet --progress-bar on -c constraints.txt -e ".[demo-$*]"
	@touch $@

$(VENV)/.dev: $(VENV)/.demo
	@echo "Installing the tools of the tests."
	$(PIP) install --quiet --progress-bar on -c constraints.txt -e ".[starter,lm,demo-djangocms,demo-wagtail,postgres,dev]"
	@touch $@

# the plain models, or a content system: CMS=djangocms, CMS=wagtail
CMS ?=
ifneq ($(filter-out djangocms wagtail,$(CMS)),)
$(error CMS is "$(CMS)"; it can be djangocms or wagtail, or empty for plain models)
endif
PROFILE := alttext.project.$(if $(CMS),profiles.$(CMS),settings)

demo: $(VENV)/.demo $(if $(CMS),$(VENV)/.demo-$(CMS))
	@$(BIN)/python -m captioner fetch starter
	@DJANGO_SETTINGS_MODULE=$(PROFILE) ALTTEXT_DEMO=1 ALTTEXT_CAPTIONER=$${ALTTEXT_CAPTIONER:-starter-page} $(BIN)/python manage.py alttext_demo $(if $(ONCE),--once) $(if $(OUT),--out $(OUT)) $(if $(ADDRESS),--address $(ADDRESS))

test: $(VENV)/.dev
	@BIN=$(BIN) sh tests/run.sh

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/djlint --lint templates

typecheck: $(VENV)/.dev
	$(BIN)/mypy

bench: $(VENV)/.dev
	@$(BIN)/python -m captioner fetch starter
	@$(BIN)/python -m tests.bench
	@$(BIN)/python -m tests.bench_scan
	@$(BIN)/python -m tests.bench_desk

chaos: $(VENV)/.dev
	@$(BIN)/python -m tests.reliability.chaos $(ARGS)

races: $(VENV)/.dev
	@$(BIN)/python -m tests.reliability.races $(ARGS)

screenshots: $(VENV)/.dev
	@$(BIN)/python -m tests.browser.screenshots

clean:
	rm -rf var build dist *.egg-info
