// What coordinator and engines do with prompts, samples and weights that are not theirs.

class RolloutOp<string mnemonic> : ActionOp<mnemonic, "verifyRollout">;

def Plan_DrawPromptsOp : RolloutOp<"draw_prompts"> { let summary = "the coordinator takes the round's prompts"; }
def Plan_DrawEvaluationOp : RolloutOp<"draw_evaluation"> { let summary = "the coordinator takes held-out prompts"; }
def Plan_ScoreOp : RolloutOp<"score"> { let summary = "rewards, advantages, and what is trained on"; }
def Plan_ScoreEvaluationOp : RolloutOp<"score_evaluation"> { let summary = "how many held-out prompts were answered"; }
def Plan_PackOp : RolloutOp<"pack"> { let summary = "how many microbatches the step has"; }
def Plan_LoadRoundOp : RolloutOp<"load_round"> { let summary = "tokens, labels and what the policy's loss needs"; }
def Plan_WakeOp : RolloutOp<"wake"> { let summary = "the engine gets its cache"; }
def Plan_PauseOp : RolloutOp<"pause"> { let summary = "no token is generated from here on"; }
def Plan_FlushOp : RolloutOp<"flush"> { let summary = "nothing is cached any more"; }
def Plan_InstallOp : RolloutOp<"install"> { let summary = "a stage's weights are all there"; }
def Plan_PublishOp : RolloutOp<"publish"> { let summary = "the weights have a version"; }
def Plan_ResumeOp : RolloutOp<"resume"> { let summary = "generation may go on"; }
def Plan_AdvantageOp : RolloutOp<"advantage"> { let summary = "rewards less the KL to the reference, whitened over the step"; }
def Plan_GenerateOp : RolloutOp<"generate"> { let summary = "a response to every sample of the engine's prompts"; }
