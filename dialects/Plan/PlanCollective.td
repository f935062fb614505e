// Calls of a group; the lane names it.

class CollectiveOp<string mnemonic> : ActionOp<mnemonic, "verifyCollective">;

def Plan_BroadcastOp : CollectiveOp<"broadcast"> { let summary = "from the root to all"; }
def Plan_GatherOp : CollectiveOp<"gather"> { let summary = "from all to the root"; }
def Plan_AllGatherOp : CollectiveOp<"all_gather"> { let summary = "from all to all, in member order"; }
def Plan_AllReduceOp : CollectiveOp<"all_reduce"> { let summary = "the sum over all, to all"; }
def Plan_UnshardOp : CollectiveOp<"unshard"> { let summary = "a stage's weights whole, from the shares of all replicas"; }
def Plan_ReduceScatterOp : CollectiveOp<"reduce_scatter"> { let summary = "the sum over all, of which each gets its share"; }
def Plan_BroadcastWeightsOp : CollectiveOp<"broadcast_weights"> { let summary = "a part of a stage's weights, to who generates with it"; }
def Plan_ReduceSquaresOp : CollectiveOp<"reduce_squares"> { let summary = "the sum of the squares of all shares, to all"; }
