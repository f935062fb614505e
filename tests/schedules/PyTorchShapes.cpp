#include "tests/schedules/PyTorchShapes.h"

#include <string_view>
#include <utility>

namespace vime {

namespace {

// Microbatches, by ranks.
const std::pair<int, std::vector<int>> kMicrobatches[] = {
    {2, {1, 2, 3, 4, 6, 8}}, {4, {1, 4, 6, 8, 10, 12, 16}}, {8, {1, 3, 8, 10, 16, 20, 24, 32}}};

const std::pair<std::string_view, std::vector<int>> kOrders[] = {{"gpipe", {1}},
                                                                 {"forward-only", {1}},
                                                                 {"1f1b", {1}},
                                                                 {"looped-bfs", {1, 2, 4}},
                                                                 {"interleaved", {1, 2, 4}},
                                                                 {"interleaved-zb", {1, 2, 4}},
                                                                 {"zb-v", {2}},
                                                                 {"dualpipe-v", {2}}};

} // namespace

std::vector<PyTorchShape> pyTorchShapes() {
  std::vector<PyTorchShape> shapes;
  for (const auto &[name, chunks] : kOrders)
    for (const auto &[ranks, counts] : kMicrobatches)
      for (const int microbatches : counts)
        for (const int number : chunks) {
          const Order *order = findOrder(name);
          const ScheduleShape shape = shapeFor(*order, ranks, microbatches, number);
          const bool isTaken = name != "1f1b" || microbatches >= ranks; // PyTorch's own rule
          if (isTaken && !check(*order, shape))
            shapes.push_back({order, shape});
        }
  return shapes;
}

} // namespace vime
