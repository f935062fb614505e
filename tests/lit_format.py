# The test format of lit.cfg.py, in a module of its own because lit's workers load it by name.
import lit.formats


class TestsWithRunLines(lit.formats.ShTest):
    """Shell tests; a YAML file without a RUN line is the input of another test, any other file without one an error."""

    def getTestsInDirectory(self, suite, path, lit_config, local_config):
        for test in super().getTestsInDirectory(suite, path, lit_config, local_config):
            source = test.getSourcePath()
            if not source.endswith(".yaml") or b"RUN:" in open(source, "rb").read():
                yield test
