// Bytes from one buffer of a rank to another.

class MoveOp<string mnemonic> : ActionOp<mnemonic, "verifyMove">;

def Plan_CopyOp : MoveOp<"copy"> { let summary = "one buffer to another"; }
def Plan_ReshardOp : MoveOp<"reshard"> { let summary = "gives the room of a stage's whole weights back"; }
def Plan_SnapshotOp : MoveOp<"snapshot"> { let summary = "a stage's weights and moments as they are between two steps"; }
