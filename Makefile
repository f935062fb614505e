# The commands of the project by name; each is a script that does all of its set-up itself.
.PHONY: demo test build bench format lint
demo test build bench format lint:
	@scripts/$@
