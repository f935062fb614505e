// Stage work on one microbatch.

class ComputeOp<string mnemonic> : ActionOp<mnemonic, "verifyCompute">;

def Plan_ForwardOp : ComputeOp<"forward"> { let summary = "activation in, activation out, stash kept"; }
def Plan_LossOp : ComputeOp<"loss"> { let summary = "cross-entropy of the last stage; its gradient replaces the logits"; }
def Plan_PolicyLossOp : ComputeOp<"policy_loss"> { let summary = "loss of tokens that the policy has chosen; its gradient replaces the logits"; }
def Plan_InferOp : ComputeOp<"infer"> { let summary = "a forward by a model that is not trained"; }
def Plan_LogProbabilitiesOp : ComputeOp<"log_probabilities"> { let summary = "of the labels, by a model that is not trained"; }
def Plan_BackwardOp : ComputeOp<"backward"> { let summary = "input and weight gradients together"; }
def Plan_BackwardInputOp : ComputeOp<"backward_input"> { let summary = "gradient of the input"; }
def Plan_EvaluateOp : ComputeOp<"evaluate"> { let summary = "a forward of held-out text"; }
def Plan_EvaluateLossOp : ComputeOp<"evaluate_loss"> { let summary = "its cross-entropy on the last stage"; }
def Plan_BackwardWeightOp : ComputeOp<"backward_weight"> { let summary = "gradient of the weights, added in ascending microbatch"; }
