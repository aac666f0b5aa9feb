# Aliases only; the commands themselves are in ./lakewarden.
.PHONY: demo test check stop doctor
demo check stop doctor:
	./lakewarden $@
test:
	./lakewarden test $(AREA)
# A hundred thousand random cases against the file indexes, shared among the cores; the gate runs two thousand.
CORES := $(shell nproc)
.PHONY: index-cases index-walk cube-walk
index-cases:
	seq $(CORES) | INDEX_CASES=$$((100000 / $(CORES) + 1)) xargs -P $(CORES) -I{} .venv/bin/python -m pytest \
	  tests/unit/optimizer/indexes/test_no_false_negative.py -k satisfies -p no:xdist -p no:cacheprovider --timeout=14400 -q
# A table that lives at random beside its indexes; the gate goes 20 steps.
index-walk:
	INDEX_WALK_STEPS=300 INDEX_WALK_SEED=$$(date +%s) .venv/bin/python -m pytest -n0 \
	  tests/integration/optimizer/iceberg/indexing/test_index_walk.py --timeout=14400 -q
# A star of tables that lives at random beside a cube that jobs build; the gate goes three steps, of which one
# is a build that is killed.
cube-walk:
	CUBE_WALK_STEPS=300 CUBE_WALK_QUERIES=20 CUBE_WALK_SEED=$${CUBE_WALK_SEED:-$$(date +%s)} .venv/bin/python -m pytest -n0 \
	  tests/integration/optimizer/iceberg/cubing/test_cube_life.py --timeout=28800 -q
