// The `job` dialect: a job as a table, every value with its origin. No control flow, few ops.
//
//   job.job "job.yaml" {
//     job.field "run.steps" "200" given at "job.yaml" line 31 column 10 length 3
//     job.field "pipeline.chunks" "1" derived from "pipeline.schedule" at "job.yaml" line 14 column 13 length 4
//   }
include "dialects/Record/Record.td"

def Job_Dialect : Dialect {
  let name = "job";
  let cppNamespace = "::vime::ir";
  let summary = "what the user declared, complete";
}

def Job_JobOp : RecordRegionOp<Job_Dialect, "job", "::vime::ir::JobHead"> {
  let summary = "a job: the file it comes from and its fields";
}

def Job_FieldOp : RecordOp<Job_Dialect, "field", "::vime::ir::JobField"> {
  let summary = "one value of a job: path, text, origin and place";
  let description = "The op's location is the place in job.yaml that `at` states.";
  let extraClassDefinition = [{
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser, ::mlir::OperationState &state) {
      JobField &field = state.getOrAddProperties<Properties>().record;
      if (::vime::ir::parseRecord(parser, state, field))
        return ::mlir::failure();
      state.location = ::vime::ir::locationOf(parser.getContext(), field);
      return ::mlir::success();
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) { ::vime::ir::printRecord(printer, *this, record()); }
  }];
}
