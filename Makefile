# Every target needs Python 3.11 or newer and make; the rest is installed into .venv on the way.
PYTHON ?= python3
BIN := .venv/bin
TESTS ?=

.PHONY: reproduce test test-full test-gpu test-wheel test-site lint types bench-speed bench-overhead bench-study bench-gpu bench-readings bench-peers bench-values bench-choice bench-values-reach bench-parallel bench-rivals bench-cutest bench-tasks test-peers attack docs gallery clean

reproduce: .venv/installed
	$(BIN)/pursuit reproduce

test: lint types
	$(BIN)/python -m pytest --numprocesses 2 --dist loadgroup -m "not long and not site" $(TESTS)

# What takes long by its nature: runs killed again and again, a thousand random problems.
test-full: .venv/installed
	$(BIN)/python -m pytest --numprocesses 2 -m long $(TESTS)

# All that has to do with a GPU, on one.
test-gpu: .venv/installed
	$(BIN)/python -m pytest tests/compiling/gpu tests/engine/gpu $(TESTS)

# The wheel as people get it: built, and installed with its dependencies alone. It is run outside the checkout.
test-wheel:
	rm -rf build/wheel
	$(PYTHON) -m venv build/wheel
	build/wheel/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheel .
	build/wheel/bin/python -m pip install --quiet --disable-pip-version-check build/wheel/pursuit-*.whl
	cd build && wheel/bin/python ../tests/wheel.py

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed
	$(BIN)/mypy

bench-speed: .venv/installed
	$(BIN)/python -m benchmarks.speed

bench-overhead: .venv/installed
	$(BIN)/python -m benchmarks.overhead

bench-study: .venv/installed
	$(BIN)/python -m benchmarks.study --rounds 3

bench-gpu: .venv/installed
	$(BIN)/python -m benchmarks.gpu --out docs/results/gpu.md
	$(BIN)/python -m benchmarks.gpu.large --out docs/results/gpu-large.md

# For a GPU: two cores would need a day or more. Random Pursuit with L = 1e6 is taken from `full`, if it is there.
READINGS := sarp constants constants-long structure path path-test
DEVICE ?= gpu
FULL ?= reproduced/full

bench-readings: .venv/installed
	for study in $(READINGS); do \
	  $(BIN)/pursuit reproduce benchmarks/readings/$$study.toml --device $(DEVICE) --no-report \
	    --out reproduced/readings/$$study || exit 1; \
	done
	$(BIN)/python -m benchmarks.readings $(READINGS:%=reproduced/readings/%) $(wildcard $(FULL)) \
	  --out docs/results/readings

# The peers have many dependencies, some of them pinned: they get an environment of their own.
PEERS ?=

bench-peers: .venv-peers/installed
	.venv-peers/bin/python -m benchmarks.peers $(PEERS)
	.venv-peers/bin/python -m benchmarks.peers --page
	.venv-peers/bin/python -m benchmarks.peers.front

# VALUES="--most 100 --methods differences L-BFGS-B --out reproduced/values" runs a part of it elsewhere.
VALUES ?=

bench-values: .venv-peers/installed
	.venv-peers/bin/python -m benchmarks.values $(VALUES)

bench-choice: .venv/installed
	$(BIN)/python -m benchmarks.values --methods auto differences evolution --most 100 --seeds 3 --out docs/results/choice
	$(BIN)/python -m benchmarks.values.choice

bench-values-reach: .venv-peers/installed
	.venv-peers/bin/python -m benchmarks.values.reach
	.venv-peers/bin/python -m benchmarks.values.pictures

bench-parallel: .venv-peers/installed
	OMP_NUM_THREADS=1 .venv-peers/bin/python -m benchmarks.parallel

bench-rivals: .venv-peers/installed
	OMP_NUM_THREADS=1 .venv-peers/bin/python -m benchmarks.rivals

# The problems of CUTEst, in Python; JOBS=1 for one run at a time.
JOBS ?= 2

bench-cutest: .venv-peers/installed
	.venv-peers/bin/python -m benchmarks.cutest run --set choosing reporting --jobs $(JOBS)
	.venv-peers/bin/python -m benchmarks.cutest run --set choosing reporting --feature noisy --every 3 --jobs $(JOBS)
	.venv-peers/bin/python -m benchmarks.cutest page

# TASKS="--solvers auto --tasks pid vqe" runs a part of it.
TASKS ?=

bench-tasks: .venv-peers/installed
	.venv-peers/bin/python -m benchmarks.tasks run --jobs $(JOBS) $(TASKS)
	.venv-peers/bin/python -m benchmarks.tasks page

test-peers: .venv-peers/installed
	.venv-peers/bin/python -m pytest tests/peers tests/values tests/cutest tests/tasks

# Kills, damaged files, load, full disks and dying workers, for about ten minutes.
attack: .venv/installed
	PYTHONPATH=tests $(BIN)/python -m attack --out docs/results/attack.md

docs: .venv/docs-installed
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

.venv/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pursuit needs Python 3.11 or newer, but $(PYTHON) is " + sys.version.split()[0] + "; say make PYTHON=... to use another.")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[coco,dask,gpu,study,test]'
	@touch $@

.venv-peers/installed: pyproject.toml
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[coco,peers,study,test]'
	@touch $@

.venv/docs-installed: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

# Opens every page of the site in a browser; screenshots are kept in docs/_build/screenshots.
test-site: docs
	$(BIN)/python -m pytest -m site tests/site

# Draws the pictures of the gallery. JAX is for one of them alone, so it is no part of an extra.
gallery: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check jax
	cd docs/gallery && for script in ../../examples/*.py; do ../../$(BIN)/python $$script || exit 1; done

clean:
	rm -rf .venv .venv-peers build coco reproduced docs/_build .hypothesis .mypy_cache .pytest_cache .ruff_cache
