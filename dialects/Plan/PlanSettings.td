// What routines and tools read beside programs: model, data, optimizer, run, limits, predictions, origins, the job.

def Plan_JobTextOp : RecordOp<Plan_Dialect, "job", "::vime::ir::JobText"> {
  let summary = "the resolved job as text, one line after the other";
  let hasVerifier = 0;
}
def Plan_ModelOp : RecordOp<Plan_Dialect, "model", "::vime::plan::Model"> {
  let summary = "sizes of a model, and its stages";
}
def Plan_DataOp : RecordOp<Plan_Dialect, "data", "::vime::plan::DataSettings"> {
  let summary = "the text, and how it is cut";
  let hasVerifier = 0;
}
def Plan_EvaluationOp : RecordOp<Plan_Dialect, "evaluation", "::vime::plan::EvaluationSettings"> {
  let summary = "the held-out text, and when it is judged";
  let hasVerifier = 0;
}
def Plan_RoundOp : RecordOp<Plan_Dialect, "round", "::vime::plan::RoundSettings"> {
  let summary = "prompts, generation, rewards, the algorithm, weight sync";
  let hasVerifier = 0;
}
def Plan_OptimizerOp : RecordOp<Plan_Dialect, "optimizer", "::vime::plan::OptimizerSettings"> {
  let summary = "AdamW's numbers";
  let hasVerifier = 0;
}
def Plan_CheckpointOp : RecordOp<Plan_Dialect, "checkpoint", "::vime::plan::CheckpointSettings"> {
  let summary = "where the run saves itself, how often, how much of it stays";
  let hasVerifier = 0;
}
def Plan_RunOp : RecordOp<Plan_Dialect, "run", "::vime::plan::RunSettings"> {
  let summary = "steps, seed, export";
  let hasVerifier = 0;
}
def Plan_LimitsOp : RecordOp<Plan_Dialect, "limits", "::vime::plan::Limits"> {
  let summary = "what a run may use and how long it may wait";
  let hasVerifier = 0;
}
def Plan_PredictionsOp : RecordOp<Plan_Dialect, "predictions", "::vime::plan::Predictions"> {
  let summary = "what the compiler expects";
  let hasVerifier = 0;
}
def Plan_OriginOp : RecordOp<Plan_Dialect, "origin", "::vime::plan::Origin"> {
  let summary = "the key of job.yaml that actions of an opcode come from";
}
