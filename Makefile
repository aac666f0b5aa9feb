# Aliases only; the commands themselves are in ./lakewarden.
.PHONY: demo test stop doctor
demo test stop doctor:
	./lakewarden $@
