# The commands of the project by name; each is a script that does all of its set-up itself.
.PHONY: demo test properties build bench format lint
demo test properties build bench format lint:
	@scripts/$@

# A hundred thousand spoiled plans and orders, before the judges and before an interpreter: do they agree?
.PHONY: mutate
mutate:
	@scripts/mutate
