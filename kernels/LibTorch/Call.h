// Call: what every call of a LibTorch kernel stands in. No autograd, and a loan of the workspace it
// was given or of the thread's scratch.
//
//   const Call call;                            // or: Call call(workspace, bytes)
//   at::Tensor t = at::mul(x, y);
//
// Also the blocks in which rows are taken, so that temporaries fit into the scratch.
#pragma once

#include <algorithm>
#include <cstdint>

#include <c10/core/InferenceMode.h>

#include "kernels/LibTorch/Loan.h"

namespace vime {

/// Of each thread that calls kernels, beside the plan's memory: three temporaries, and LibTorch's
/// scalars.
inline constexpr std::size_t kTemporaryBytes = 256 << 10,
                             kScratchBytes = 3 * kTemporaryBytes + 4096;

class Call {
public:
  Call();
  Call(void *workspace, std::size_t bytes) : loan(workspace, bytes) {}
  /// Last of all, behind the last temporary's life.
  void close() { loan.close(); }

private:
  c10::InferenceMode withoutAutograd;
  Loan loan;
};

/// Runs `body(call arguments…)` inside a Call, and closes it: temporaries of the body are gone
/// then.
template <typename Body> auto inCall(const Body &body) {
  Call call;
  if constexpr (std::is_void_v<decltype(body())>) {
    body();
    call.close();
  } else {
    auto result = body();
    call.close();
    return result;
  }
}
template <typename Body> void inCall(void *workspace, std::size_t bytes, const Body &body) {
  Call call(workspace, bytes);
  body();
  call.close();
}

/// Part of a matrix that one temporary has room for: whole rows, or of very wide ones a part of
/// one.
struct Block {
  std::int64_t row, rows, column, columns;
};

/// All blocks of rows; `elementBytes` of what a temporary holds.
template <typename Body>
void forRows(std::int64_t rows, std::int64_t columns, std::size_t elementBytes, const Body &body) {
  const auto room = std::int64_t(kTemporaryBytes / elementBytes);
  const std::int64_t most = std::max<std::int64_t>(1, room / std::max<std::int64_t>(columns, 1));
  for (std::int64_t row = 0; row < rows; row += most)
    body(row, std::min(most, rows - row));
}

template <typename Body>
void forColumns(std::int64_t columns, std::size_t elementBytes, const Body &body) {
  const auto room = std::int64_t(kTemporaryBytes / elementBytes);
  for (std::int64_t column = 0; column < columns; column += room)
    body(column, std::min(room, columns - column));
}

template <typename Body>
void forBlocks(std::int64_t rows, std::int64_t columns, std::size_t elementBytes,
               const Body &body) {
  forRows(rows, columns, elementBytes, [&](std::int64_t row, std::int64_t count) {
    forColumns(columns, elementBytes, [&](std::int64_t column, std::int64_t width) {
      body(Block{row, count, column, width});
    });
  });
}

} // namespace vime
