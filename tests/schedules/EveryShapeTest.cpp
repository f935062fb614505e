// Every order at every shape of the field, all variants: what PropertyTest.cpp samples.
#include "tests/schedules/ShapesOfOrders.h"

#include <gtest/gtest.h>

namespace vime {
namespace {

class EveryShape : public testing::TestWithParam<Order> {};

TEST_P(EveryShape, IsLegalOrMended) {
  const Order &order = GetParam();
  const Field field = fieldOf(order);
  int legal = 0, refused = 0;
  for (int ranks = 1; ranks <= field.ranks; ++ranks)
    for (int chunks = 1; chunks <= field.chunks; ++chunks)
      for (int microbatches = 1; microbatches <= field.microbatches; ++microbatches)
        for (const ScheduleShape shape : variantsOf(order, {ranks, microbatches, chunks})) {
          ++(expectLegalOrMended(order, shape) ? legal : refused);
          ASSERT_FALSE(HasFailure()) << named(order, shape);
        }
  std::printf("%d legal, %d refused\n", legal, refused);
  EXPECT_GT(legal, 0);
}

INSTANTIATE_TEST_SUITE_P(Properties, EveryShape, testing::ValuesIn(allOrders()),
                         [](const auto &instance) {
                           std::string letters;
                           for (const char c : instance.param.name)
                             letters += c == '-' ? '_' : c;
                           return letters;
                         });

} // namespace
} // namespace vime
