// What happens to a stage's parameters once a step, and at the start.

class UpdateOp<string mnemonic> : ActionOp<mnemonic, "verifyUpdate">;

def Plan_InitializeOp : UpdateOp<"initialize"> { let summary = "parameters and moments"; }
def Plan_ScaleGradientsOp : UpdateOp<"scale_gradients"> { let summary = "by the header's denominator"; }
def Plan_SquareNormOp : UpdateOp<"square_norm"> { let summary = "sums of squares of a stage's tensors"; }
def Plan_ClipOp : UpdateOp<"clip"> { let summary = "the global norm in tensor order, and the factor"; }
def Plan_OptimizeOp : UpdateOp<"optimize"> { let summary = "AdamW"; }
def Plan_AddTiedOp : UpdateOp<"add_tied"> { let summary = "the head's gradient of a tied matrix, added to the embedding's"; }
def Plan_OptimizeEarlyOp : UpdateOp<"optimize_early"> { let summary = "AdamW ahead of the verdict, from weights that are kept"; }
def Plan_SettleOp : UpdateOp<"settle"> { let summary = "the verdict on the step before"; }
def Plan_RedoOp : UpdateOp<"redo"> { let summary = "AdamW once more, from the weights that were kept"; }
