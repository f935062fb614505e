// Routines of the host and io lanes.

class HostOp<string mnemonic> : ActionOp<mnemonic, "verifyHost">;

def Plan_DecideOp : HostOp<"decide"> { let summary = "the coordinator writes the step header"; }
def Plan_LoadOp : HostOp<"load"> { let summary = "tokens, labels and segment offsets are read"; }
def Plan_ReportOp : HostOp<"report"> { let summary = "the coordinator shows a step"; }
def Plan_LoadEvaluationOp : HostOp<"load_evaluation"> { let summary = "held-out text is read"; }
def Plan_ReportEvaluationOp : HostOp<"report_evaluation"> { let summary = "the coordinator shows the held-out loss"; }
def Plan_ExportShardOp : HostOp<"export_shard"> { let summary = "a rank writes the tensors of its stages"; }
def Plan_ExportCommitOp : HostOp<"export_commit"> { let summary = "the coordinator makes the export visible"; }
def Plan_CheckpointShardOp : HostOp<"checkpoint_shard"> { let summary = "a rank writes a snapshot to the disk"; }
def Plan_CheckpointCommitOp : HostOp<"checkpoint_commit"> { let summary = "the coordinator makes the checkpoint visible"; }
