# The commands of the project by name; each is a script that does all of its set-up itself.
.PHONY: demo test properties build bench format lint
demo test properties build bench format lint:
	@scripts/$@
