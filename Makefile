# Every target needs Python 3.11 or newer and make; the rest is installed into .venv on the way.
PYTHON ?= python3
BIN := .venv/bin
TESTS ?=

.PHONY: reproduce test test-fast test-full test-gpu test-wheel test-numba test-torch test-site lint types bench-speed bench-overhead bench-study bench-rules bench-gpu bench-readings bench-pages bench-peers bench-values bench-cutest bench-more-wild bench-coco bench-tasks bench-rivals bench-parallel bench-constraints test-peers test-adapters attack docs gallery count clean

reproduce: .venv/installed
	$(BIN)/pursuit reproduce

# Two workers share the cores: threads of the BLAS would only wait for each other.
test-fast test-full: export OMP_NUM_THREADS = 1

# Style and types are checked beside the tests.
test: .venv/installed
	+$(MAKE) --no-print-directory --jobs 3 lint types test-fast

test-fast: .venv/installed
	$(BIN)/python -m pytest --numprocesses 2 --dist loadgroup -m "not long and not site" $(TESTS)

# What takes long by its nature: runs killed again and again, random problems, the gallery, other type checkers.
test-full: .venv/installed
	$(BIN)/python -m pytest --numprocesses 2 --dist loadgroup -m long $(TESTS)

# All that has to do with a GPU, on one.
test-gpu: .venv/installed
	$(BIN)/python -m pytest tests/gpu $(TESTS)

# The wheel as people get it: built, and installed with its dependencies alone, so without Numba. It is run outside the checkout.
test-wheel:
	rm -rf build/wheel
	$(PYTHON) -m venv build/wheel
	build/wheel/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheel .
	build/wheel/bin/python -m pip install --quiet --disable-pip-version-check build/wheel/pursuit-*.whl
	cd build && wheel/bin/python ../tests/wheel.py

# The oldest Numba that we support, and the latest, each in an environment of its own.
NUMBAS ?= numba==0.61.* numba
WITH_NUMBA := $(addprefix tests/,compiling/test_cache.py compiling/test_dispatch.py compiling/test_vectors.py problems/test_jitted.py) \
  $(foreach method,rp sarp cma ep-cma-4,'tests/golden/test_golden.py::test_trajectories_are_as_recorded[$(method)-1]')

test-numba:
	for numba in $(NUMBAS:%='%'); do \
	  rm -rf build/numba && $(PYTHON) -m venv build/numba && \
	  build/numba/bin/python -m pip install --quiet --disable-pip-version-check --editable . "$$numba" hypothesis pytest pytest-xdist && \
	  build/numba/bin/python -c 'import numba; print("Numba", numba.__version__)' && \
	  build/numba/bin/python -m pytest $(WITH_NUMBA) || exit 1; \
	done

# PyTorch has many dependencies, so it has an environment of its own. A build for CPUs is taken where pip finds one.
TORCH ?= torch==2.13.*

test-torch: .venv-torch/installed
	OMP_NUM_THREADS=1 .venv-torch/bin/python -m pytest src/pursuit/torch.py tests/test_torch.py $(TESTS)

.venv-torch/installed: pyproject.toml
	$(PYTHON) -m venv .venv-torch
	.venv-torch/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[torch]' '$(TORCH)' hypothesis matplotlib pytest
	@touch $@

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed
	$(BIN)/mypy

bench-speed: .venv/installed
	$(BIN)/python -m benchmarks.speed --out docs/results/speed.md

bench-overhead: .venv/installed
	$(BIN)/python -m benchmarks.overhead --out docs/results/overhead.md

bench-rules: .venv-peers/installed
	OMP_NUM_THREADS=1 .venv-peers/bin/python -m benchmarks.rules --out docs/results/rules.md

bench-study: .venv/installed
	$(BIN)/python -m benchmarks.study --rounds 3 --out docs/results/study.md

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

# The peers have many dependencies, some of them pinned: they get an environment of their own. Each suite makes the runs
# that are missing or outdated, resumes after an interruption, and writes its pages. QUICK=1 is a small version,
# below reproduced/, OPTIONS="--solvers auto --seeds 3 --out reproduced/values" a part elsewhere; `make bench-pages` only writes pages.
OPTIONS ?=

bench-peers bench-values bench-cutest bench-more-wild bench-coco bench-tasks bench-rivals bench-parallel bench-constraints: bench-%: .venv-peers/installed
	OMP_NUM_THREADS=1 .venv-peers/bin/python -m benchmarks run $* $(if $(QUICK),--quick) $(OPTIONS)
	$(if $(OPTIONS),,.venv-peers/bin/python -m benchmarks page $* $(if $(QUICK),--out reproduced/quick-$*))

bench-pages: .venv-peers/installed
	.venv-peers/bin/python -m benchmarks page

test-peers: .venv-peers/installed
	.venv-peers/bin/python -m pytest tests/peers tests/values tests/cutest tests/tasks tests/parallel

# The packages that `pursuit.adapters` serves have many dependencies: they get an environment of their own.
test-adapters: .venv-adapters/installed
	.venv-adapters/bin/python -m pytest tests/adapters src/pursuit/adapters

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

.venv-adapters/installed: pyproject.toml
	$(PYTHON) -m venv .venv-adapters
	.venv-adapters/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[adapters,test]'
	@touch $@

.venv/docs-installed: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

# Opens every page of the site in a browser; screenshots are kept in docs/_build/screenshots.
test-site: docs
	$(BIN)/python -m pytest -m site tests/site

# Draws the pictures of the gallery. JAX and PyTorch are for one of them each.
gallery: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check jax '$(TORCH)'
	cd docs/gallery && for script in ../../examples/*.py; do ../../$(BIN)/python $$script || exit 1; done

# Lines of code, words of documentation, and the size of the results.
count: .venv/installed
	@$(BIN)/python -m benchmarks.count

clean:
	rm -rf .venv .venv-adapters .venv-peers .venv-torch build coco reproduced docs/_build .hypothesis .mypy_cache .pytest_cache .ruff_cache
