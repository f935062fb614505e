#include "runtime/Exec/LearningRate.h"

#include <cmath>
#include <numbers>

namespace vime {

double learningRateOf(const plan::OptimizerSettings &settings, std::uint64_t steps,
                      std::uint64_t step) {
  const double whole = settings.learningRate;
  if (step < settings.warmup)
    return whole * static_cast<double>(step + 1) / static_cast<double>(settings.warmup);
  if (settings.decay == plan::Decay::Constant || step >= steps)
    return whole;
  const double gone =
      static_cast<double>(step - settings.warmup) / static_cast<double>(steps - settings.warmup);
  const double left = settings.decay == plan::Decay::Linear
                          ? 1 - gone
                          : (1 + std::cos(std::numbers::pi * gone)) / 2;
  return settings.floor + (whole - settings.floor) * left;
}

} // namespace vime
