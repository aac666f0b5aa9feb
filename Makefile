# Aliases only; the commands themselves are in ./lakewarden.
.PHONY: demo test check stop doctor
demo check stop doctor:
	./lakewarden $@
test:
	./lakewarden test $(AREA)
# A hundred thousand random cases against the file indexes; the gate runs two thousand.
.PHONY: index-cases
index-cases:
	INDEX_CASES=100000 .venv/bin/python -m pytest tests/unit/optimizer/indexes/test_no_false_negative.py --timeout=14400 -q
