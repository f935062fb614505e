// One end of a message; the lane names the channel.

class TransferOp<string mnemonic> : ActionOp<mnemonic, "verifyTransfer">;

def Plan_SendOp : TransferOp<"send"> { let summary = "the other end receives"; }
def Plan_ReceiveOp : TransferOp<"receive"> { let summary = "the other end sends"; }
