// TorchLowering: the tables that PyTorch's `torch.distributed.pipelining` makes of an order before
// it runs it, cell by cell, for those who compare, and for its runtime to load.
//
//   toCsv(withTransfers(order))  // 0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,…
//   toCsv(withShards(order))     // 0UNSHARD,0F0,0SEND_F0,…,0B1,0REDUCE_GRAD,0RESHARD
//
// Plans do without it: their clock places transfers where no table can (compiler/docs/
// execution-model.md, Where transfers stand). Rules: PyTorch's main of 2025; idle slots are left
// out. Orders as the judge lets them pass (`compiler/Verify/VerifyOrder.h`).
#pragma once

#include "schedules/OrderTable.h"
#include "schedules/Schedule.h"

#include <optional>
#include <string>

namespace vime {

/// Why PyTorch's notation and runtime have no word for the order: "…two copies of the model…";
/// nothing if they have.
std::optional<std::string> beyondTorch(const Schedule &order);

/// Every send right behind its task, and its receive at the end of what the other rank has by then,
/// if the ranks take turns, one cell each.
OrderTable withTransfers(const Schedule &order);

/// And for parameters that are sharded: of each rank the stages that come next, at most `window` of
/// them, are gathered before each task, all others dropped; gradients are reduced behind the last
/// one of a stage. These cells take turns too, so that receives may stand elsewhere than above.
OrderTable withShards(const Schedule &order, int window = 3);

} // namespace vime
