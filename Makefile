# `make demo` and `make test` need make and Python 3.11 or 3.13; the first of them sets up .venv.

CHECK = import sys, ensurepip, venv; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 13)))
PYTHON ?= $(firstword $(foreach name,python3.11 python3.13 python3,\
    $(shell $(name) -c '$(CHECK)' >/dev/null 2>&1 && echo $(name))))
NO_PYTHON = No Python 3.11 or 3.13 with venv and pip found. Install one (on Debian and Ubuntu: \
    apt install python3-venv), or name one: make PYTHON=/path/to/python3.11

# A folder is ready when it holds this file; new requirements have a new name, so they install anew.
READY := ready-$(shell cksum <requirements.txt | cut -d' ' -f1)
PACKAGING := ready-$(shell cksum <release/requirements.txt | cut -d' ' -f1)
SITE := ready-$(shell cksum <docs/requirements.txt | cut -d' ' -f1)
RUN := .venv/bin/python
export PYTHONPATH := $(CURDIR)
# Or else each of a hundred starts of Python compiles the add-on anew.
unexport PYTHONDONTWRITEBYTECODE
export BLENDER_USER_RESOURCES := $(CURDIR)/build/blender-user

.PHONY: help release quick test test-all tests same same-record lint style types demo samples manual reference catalogs figures pictures listing bench bench-threads bone-formulas bench-solids bench-materials \
    exports forms zoo fuzz fuzz-rigs kernels wheels sanitize zip clean

help: ## Say what there is to make
	@sed -n 's/^\([a-z%-]*\):.*## /make \1\t/p' Makefile

quick: kernels .venv/$(READY) ## Check in two minutes what a change is most likely to break: make quick SINCE=main
	$(RUN) -m tests.quick $(if $(SINCE),--since $(SINCE))

test: kernels wheels style ## Check style, types and layers, and run every test but long ones
	+$(MAKE) --no-print-directory -j2 types tests

test-all: kernels wheels style ## The same with long tests
	+$(MAKE) --no-print-directory -j2 types tests CHOSEN=

# Those of Blender first, which take longest, in as many processes as there are processors.
CHOSEN = -m "not nightly"
tests: .venv/$(READY)
	$(RUN) -m pytest tests/blender tests/test_*.py tests/core -n auto --dist worksteal $(CHOSEN)

# Threads of linear algebra would only wait for a processor that another process has.
quick tests: export OPENBLAS_NUM_THREADS := 1

same: .venv/$(READY) kernels ## Bake 190 tiny scenes, and say which frames are not as recorded, to the bit
	$(RUN) -m tests.same

same-record: .venv/$(READY) kernels ## Record them as they are now, before a change that is to change no bake
	$(RUN) -m tests.same --record

lint: style types ## Check style and types only

style: .venv/$(READY)
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check

types: .venv/$(READY)
	$(RUN) -m mypy

demo: .venv/$(READY) kernels ## Bake every sample, for the manual too, render a contact sheet and an animation: build/demo
	$(RUN) sample_blends/bake_demo.py build/demo

samples: kernels build/bpy-4.2.23/$(READY) ## Write the sample files anew, in 4.2: sample_blends/*.blend
	build/bpy-4.2.23/bin/python sample_blends/make_samples.py

LANGUAGES = de es ja zh_CN
manual: build/manual/$(SITE) ## Build the manual as a site: build/manual/html/index.html
	build/manual/bin/python -m sphinx --quiet --fresh-env --fail-on-warning --keep-going --jobs auto \
	    --conf-dir docs/site docs build/manual/html
	for language in $(LANGUAGES); do \
	    build/manual/bin/python -m sphinx --quiet --fresh-env --fail-on-warning --keep-going \
	        -D language=$$language --conf-dir docs/site docs build/manual/html/$$language || exit; done
	build/manual/bin/python -m docs.site.assets build/manual/html

reference: .venv/$(READY) ## Write the pages of docs/reference that are made from the source
	$(RUN) -m docs.site.write_reference

catalogs: .venv/$(READY) build/manual/$(SITE) ## Bring the translations in step with the source: what they lack is empty
	build/manual/bin/python -m sphinx --quiet --builder gettext --conf-dir docs/site docs build/gettext
	$(RUN) -m languages.write_catalogs build/gettext

figures: .venv/$(READY) ## Draw the figures of docs/ anew
	$(RUN) docs/figures/integrators.py
	$(RUN) docs/figures/contacts.py
	$(RUN) docs/figures/materials.py

BLENDER_WINDOW ?= blender
IN_WINDOW = $(BLENDER_WINDOW) --factory-startup --enable-event-simulate --python-exit-code 1 --python
pictures: .venv/$(READY) kernels ## Draw the pictures of start, how to and settings anew, or of some pages: make pictures PAGES="flag cape"; needs BLENDER_WINDOW, with the extension
	$(IN_WINDOW) docs/figures/in_window.py -- $(PAGES)
ifndef PAGES
	$(IN_WINDOW) docs/figures/first_cloth.py
	$(RUN) docs/figures/how_to.py
	$(RUN) docs/figures/loop_in_browser.py
	$(RUN) docs/figures/settings.py
endif

listing: .venv/$(READY) kernels ## Make icon, pictures and films of the listing: dist/listing, after make release; or: make listing STEPS="icon bake pictures"
	$(RUN) -m listing.make_listing --blender '$(BLENDER_WINDOW)' $(STEPS)

bench: .venv/$(READY) kernels ## Measure speed and stretch beside Blender's own cloth
	$(RUN) tests/benchmarks/cloth.py
	$(RUN) tests/benchmarks/real_meshes.py
	$(RUN) tests/benchmarks/contacts.py
	$(RUN) tests/benchmarks/solids.py
	$(RUN) tests/benchmarks/materials.py

bench-threads: .venv/$(READY) kernels ## Wall time with one thread and with more
	$(RUN) -m tests.benchmarks.threads

bench-solids: .venv/$(READY) kernels ## Only jelly and balloons, beside Soft Body and Cloth
	$(RUN) tests/benchmarks/solids.py

bench-materials: .venv/$(READY) kernels ## Only how long materials take
	$(RUN) tests/benchmarks/materials.py

bone-formulas: .venv/$(READY) kernels ## A tail at five frame rates, by the formulas of others too: docs/how_to/bones.md
	$(RUN) -m tests.benchmarks.bone_formulas

exports: .venv/$(READY) ## Export every sample, read it back, and write how far it is off: docs/how_to/export.md
	$(RUN) tests/benchmarks/exports.py

forms: .venv/$(READY) kernels ## Bake samples to every form, and loops, and measure them: docs/reference/bakes.md
	$(RUN) tests/benchmarks/forms.py

zoo: .venv/$(READY) kernels ## Play 70 scenes of contact beside Blender's Cloth, those not yet in build/zoo; or: make zoo SEEDS=100:110
	$(RUN) tests/benchmarks/zoo.py $(if $(SEEDS),--seeds $(SEEDS))

LIVE_SEEDS ?= 0:60
fuzz: .venv/$(READY) kernels ## Play random scenes, each by its number: make fuzz SEEDS=0:200
	$(RUN) tests/fuzz/run.py --seeds $(or $(SEEDS),0:200) --jobs $(or $(JOBS),1)
	$(RUN) tests/fuzz/run.py --kind live --seeds $(LIVE_SEEDS) --jobs $(or $(JOBS),1)

fuzz-rigs: .venv/$(READY) kernels ## Play random scenes of production files: make fuzz-rigs SEEDS=0:300
	$(RUN) tests/fuzz/run.py --kind rigs --seeds $(or $(SEEDS),0:300) --jobs $(or $(JOBS),1)

kernels: build/compiler/$(READY) ## Compile the inner loops for this machine: build/kernels
	build/compiler/bin/python kernels/build.py

wheels: kernels build/packaging/$(PACKAGING) ## Compile them for all machines, as the zip carries them: wheels/*.whl
	build/packaging/bin/python release/wheels.py

sanitize: .venv/$(READY) ## Run tests that reach each kernel on ones that watch their threads and memory; needs gcc
	$(RUN) kernels/sanitize.py threads tests/core/test_detection.py tests/core/test_team.py \
	    -k "(threads or side_by_side) and not copied_process"
	$(RUN) kernels/sanitize.py order
	$(RUN) kernels/sanitize.py memory -p kernels.reached @kernels/watched.txt

# An installed Blender packs it in seconds; without one that takes the 1 GB of .venv.
BLENDER ?= $(shell command -v blender)
EXTENSION_TOOL = $(if $(BLENDER),$(BLENDER) --command extension,$(RUN) \
    .venv/lib/python*/site-packages/bpy/*/scripts/addons_core/bl_pkg/cli/blender_ext.py)
zip: wheels $(if $(BLENDER),,.venv/$(READY)) ## Build the extension: dist/verlet_soft_body-VERSION.zip
	mkdir -p dist
	$(EXTENSION_TOOL) build --source-dir . --output-dir dist

WEBSITE ?=
release: kernels build/packaging/$(PACKAGING) $(if $(BLENDER),,.venv/$(READY)) ## Make all that users download, in dist: make release WEBSITE=https://…
	build/packaging/bin/python release/make_release.py --website "$(WEBSITE)" -- $(EXTENSION_TOOL)

test-bpy-%: kernels wheels build/bpy-%/$(READY) ## Run the Blender tests on another bpy: make test-bpy-4.2.23
	BLENDER_USER_RESOURCES=$(CURDIR)/build/bpy-$*/user build/bpy-$*/bin/python -m pytest tests/blender \
	    -m "not slow and not nightly"

bpy-%: build/bpy-%/$(READY) ## Set up another bpy for that
	@:

clean: ## Delete what was built; .venv stays
	rm -rf build dist wheels

.venv/$(READY):
	mkdir -p build
	grep -v '^ziglang=' requirements.txt >build/requirements.txt
	$(call install,.venv,-r build/requirements.txt)

build/compiler/$(READY):
	mkdir -p build
	grep -E '^(numpy|ziglang)=' requirements.txt >build/requirements-compiler.txt
	$(or $(PYTHON),$(error $(NO_PYTHON))) -m venv --clear build/compiler
	build/compiler/bin/python -m pip install --disable-pip-version-check --quiet \
	    -r build/requirements-compiler.txt
	touch $@

build/packaging/$(PACKAGING):
	mkdir -p build
	$(or $(PYTHON),$(error $(NO_PYTHON))) -m venv --clear build/packaging
	build/packaging/bin/python -m pip install --disable-pip-version-check --quiet -r release/requirements.txt
	touch $@

build/manual/$(SITE):
	mkdir -p build
	$(or $(PYTHON),$(error $(NO_PYTHON))) -m venv --clear build/manual
	build/manual/bin/python -m pip install --disable-pip-version-check --quiet -r docs/requirements.txt
	touch $@

.PRECIOUS: build/bpy-%/$(READY)
build/bpy-%/$(READY):
	mkdir -p build
	grep -E '^(numpy|hypothesis|openjd-cli|pytest|pytest-xdist)=' requirements.txt >build/requirements-$*.txt
	$(call install,build/bpy-$*,bpy==$* -r build/requirements-$*.txt)

LIBRARIES = libgl1 libice6 libsm6 libx11-6 libxfixes3 libxi6 libxkbcommon0 libxrender1
define install
	@echo 'Setting up $(1), once: Blender as a Python module and the tools around it, about 1 GB'
	$(or $(PYTHON),$(error $(NO_PYTHON))) -m venv --clear $(1)
	$(1)/bin/python -m pip install --disable-pip-version-check --quiet $(2)
	$(1)/bin/python -c 'import bpy' || { echo 'Blender needs, on Debian: apt install $(LIBRARIES)'; exit 1; }
	touch $(1)/$(READY)
endef
