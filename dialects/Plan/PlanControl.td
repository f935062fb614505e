// What serves the program itself.

class ControlOp<string mnemonic> : ActionOp<mnemonic, "verifyControl">;

def Plan_JoinOp : ControlOp<"join"> { let summary = "does nothing; lets an action wait for more than four others"; }
def Plan_MeasureOp : ControlOp<"measure"> { let summary = "writes this rank's counters of the step"; }
def Plan_MeasureEvaluationOp : ControlOp<"measure_evaluation"> { let summary = "writes loss and tokens of an evaluation"; }
