"""The include judge can fail: one planted include per rule, and one that is allowed beside each."""

import pathlib
import tempfile
import unittest

import includes


def judge(name, line):
    """The objection to one file with one line, or None."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text("// A file.\n" + line + "\n", encoding="utf-8")
        found = list(includes.violations(root))
        if not found:
            return None
        (file, at, _, why), = found
        assert (file, at) == (name, 2), found
        return why


class Includes(unittest.TestCase):
    def refuse(self, name, line, why):
        self.assertIn(why, judge(name, line) or "nothing")

    def allow(self, name, line):
        self.assertIsNone(judge(name, line))

    def test_schedules_know_the_standard_library_only(self):
        self.refuse("schedules/GPipe.cpp", "#include <fmt/format.h>", "standard library")
        self.refuse("schedules/GPipe.cpp", '#include "runtime/Base/Status.h"', "schedules/ does not know it")
        self.allow("schedules/GPipe.cpp", "#include <vector>")
        self.allow("schedules/GPipe.cpp", '#include "schedules/Schedule.h"')

    def test_runtime_knows_no_compiler(self):
        self.refuse("runtime/Exec/Executor.cpp", '#include "compiler/Frontend/Job.h"', "runtime/ does not know it")
        self.refuse("runtime/Exec/Executor.cpp", '#include "dialects/Plan/Plan.h"', "runtime/ does not know it")
        self.refuse("kernels/Cpu/Gemm.cpp", '#include "compiler/Frontend/Job.h"', "kernels/ does not know it")
        self.allow("runtime/Exec/Executor.cpp", '#include "kernels/Kernels.h"')

    def test_compiler_knows_the_contracts_of_the_runtime_only(self):
        self.refuse("compiler/Driver/Compile.cpp", '#include "runtime/Exec/Executor.h"', "compiler/Driver/ does not know it")
        self.allow("compiler/Driver/Compile.cpp", '#include "runtime/Plan/Plan.h"')
        self.allow("compiler/Frontend/RewardRules.cpp", '#include "runtime/Reward/Pattern.h"')
        self.refuse("compiler/Frontend/RewardRules.cpp", '#include "runtime/Reward/Reward.h"', "compiler/ does not know it")

    def test_texts_are_packed_alike_for_compiler_and_runtime(self):
        self.allow("compiler/Frontend/StepNeeds.cpp", '#include "runtime/Data/TextDataset.h"')
        self.refuse("compiler/Verify/D2.cpp", '#include "runtime/Data/TextDataset.h"', "compiler/Verify/ does not")
        self.refuse("runtime/Data/Packing.cpp", '#include "runtime/Exec/Executor.h"', "runtime/Data/ does not know it")

    def test_command_lines_are_common_and_know_nothing(self):
        self.allow("compiler/Driver/Verbs.cpp", '#include "runtime/CommandLine/Arguments.h"')
        self.allow("runtime/Tools/vime-exec.cpp", '#include "runtime/CommandLine/Arguments.h"')
        self.refuse("runtime/CommandLine/ManPage.cpp", '#include "runtime/Plan/Plan.h"', "does not know it")

    def test_only_the_verbs_know_flight_records(self):
        self.allow("compiler/Driver/ExplainRecords.cpp", '#include "runtime/Trace/Diagnosis.h"')
        self.refuse("compiler/Lowering/Clock.cpp", '#include "runtime/Trace/Diagnosis.h"', "compiler/ does not know it")
        self.refuse("runtime/Trace/Diagnosis.cpp", '#include "runtime/Exec/Executor.h"', "runtime/Trace/ does not know it")

    def test_dialects_know_orders_and_contracts(self):
        self.refuse("dialects/Plan/PlanOps.cpp", '#include "compiler/Verify/C1.h"', "dialects/ does not know it")
        self.refuse("dialects/Plan/PlanOps.cpp", '#include "runtime/Exec/Executor.h"', "dialects/ does not know it")
        self.allow("dialects/Plan/PlanOps.cpp", '#include "runtime/Plan/Action.h"')
        self.allow("dialects/Sched/PipelineOp.cpp", '#include "schedules/Schedule.h"')

    def test_verifiers_know_nothing_of_the_lowering(self):
        for folder in ("Lowering", "Analysis", "Search"):
            self.refuse("compiler/Verify/C1.cpp", f'#include "compiler/{folder}/Waits.h"', "compiler/Verify/ does not")
        self.allow("compiler/Verify/C1.cpp", '#include "compiler/Diagnostics/Findings.h"')
        self.allow("compiler/Lowering/Comm.cpp", '#include "compiler/Verify/Judge.h"')

    def test_the_interpreter_knows_nothing_of_those_it_judges(self):
        for folder in ("compiler/Verify", "compiler/Lowering", "compiler/Frontend", "runtime/Exec", "tests/verify"):
            self.refuse("tests/Interpreter/Machine.cpp", f'#include "{folder}/Anything.h"', "tests/Interpreter/ does not")
        self.allow("tests/Interpreter/Machine.cpp", '#include "runtime/Plan/CheckPlan.h"')

    def test_libraries_stay_where_they_belong(self):
        self.refuse("runtime/Plan/Plan.cpp", '#include "mlir/IR/Value.h"', "only dialects/")
        self.refuse("runtime/Plan/Plan.cpp", "#include <llvm/ADT/SmallVector.h>", "only dialects/")
        self.refuse("runtime/Model/Stage.cpp", "#include <ATen/ATen.h>", "only kernels/LibTorch/")
        self.refuse("runtime/Exec/Executor.cpp", "#include <gloo/barrier.h>", "only runtime/Transport/Gloo")
        self.refuse("runtime/Reward/HttpScorer.cpp", "#include <curl/curl.h>", "only runtime/Reward/Curl")
        self.refuse("runtime/Reward/RuleReward.cpp", "#include <re2/re2.h>", "only runtime/Reward/Pattern")
        self.allow("dialects/Plan/Plan.h", '#include "mlir/IR/Dialect.h"')
        self.allow("runtime/Transport/GlooTransport.cpp", "#include <gloo/barrier.h>")

    def test_python_knows_orders_and_their_judge(self):
        self.allow("python/Core.cpp", '#include "compiler/Verify/VerifyOrder.h"')
        self.allow("python/Core.cpp", "#include <pybind11/pybind11.h>")
        self.refuse("python/Core.cpp", '#include "compiler/Verify/Verify.h"', "python/ does not know it")
        self.refuse("python/Core.cpp", '#include "runtime/Plan/Plan.h"', "python/ does not know it")
        self.refuse("compiler/Driver/Verbs.cpp", "#include <pybind11/pybind11.h>", "only python/")

    def test_dear_headers_stay_out_of_headers(self):
        self.refuse("runtime/Plan/Plan.h", "#include <fmt/format.h>", "too dear for a header")
        self.allow("runtime/Plan/Plan.cpp", "#include <fmt/format.h>")

    def test_paths_start_at_the_root(self):
        self.refuse("runtime/Plan/Plan.cpp", '#include "Plan.h"', "from the root")
        self.refuse("runtime/Plan/Plan.cpp", '  #  include "../Base/Status.h"', "from the root")


if __name__ == "__main__":
    unittest.main()
