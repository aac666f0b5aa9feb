# Aliases only; the commands themselves are in ./lakewarden.
.PHONY: demo test check stop doctor
demo check stop doctor:
	./lakewarden $@
test:
	./lakewarden test $(AREA)
