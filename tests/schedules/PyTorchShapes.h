// The shapes for which PyTorch's orders were compared with ours: its schedules on 2, 4 and 8 ranks,
// as far as its constructors take them, 280 tables.
#pragma once

#include "schedules/Registry.h"

#include <vector>

namespace vime {

struct PyTorchShape {
  const Order *order;
  ScheduleShape shape;
};

/// Schedule after schedule.
std::vector<PyTorchShape> pyTorchShapes();

} // namespace vime
