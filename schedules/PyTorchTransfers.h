// PyTorchTransfers: where PyTorch 2.13's pipelining puts the transfers of an order.
//
//   const auto early = transfersAsPyTorch(order, 8);
//   const TransferRows late = deferredReceives(*early); // with `defer_pp_recv`
//
// To compare with our own places; no plan is made so.
#pragma once

#include "schedules/TransferRows.h"

namespace vime {

/// As its lowering writes them (TorchLowering.h): a receive where its sender sends. Nothing if
/// PyTorch has no word for the order.
std::optional<TransferRows> transfersAsPyTorch(const Schedule &order, int microbatches);

/// Each receive just before the task that needs it. But on a rank whose number is lower than its
/// peer's, all that are held back from that peer go before any send to it.
TransferRows deferredReceives(const TransferRows &rows);

} // namespace vime
