// The `sched` dialect: an order as data, one op per pass, one packed row per rank in PyTorch's grammar.
//
//   sched.pipeline "1f1b" microbatches 3 placement [0, 1] {
//     rank 0 : "0F0 0F1 . 0B0 0F2 0B1 0B2"
//     rank 1 : "1F0 1B0 1F1 1B1 1F2 1B2"
//   }
include "dialects/Record/Record.td"

def Sched_Dialect : Dialect {
  let name = "sched";
  let cppNamespace = "::vime::ir";
  let summary = "which rank holds which stage, and in which order each rank runs its tasks";
}

def Sched_PipelineOp : RecordOpBase<Sched_Dialect, "pipeline", "::vime::ir::PipelineRecord", []> {
  let summary = "a schedule: placement, and a row of tasks per rank";
  let description = "Rows are kept as vectors: a quarter of a million tasks cost a millisecond, not fifty.";
  let builders = [OpBuilder<(ins "::vime::ir::PipelineRecord &&":$record), [{
    $_state.getOrAddProperties<Properties>().record = std::move(record);
  }]>];
  let extraClassDeclaration = [{ ::vime::ir::PipelineRecord &record() { return getProperties().record; } }];
}
