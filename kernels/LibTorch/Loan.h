// Loan: what LibTorch may allocate from, in this thread, for as long as a call lasts.
//
//   Loan loan(workspace, bytes);
//   at::Tensor scores = at::mm(a, b);  // lies in the workspace
//   scores.reset();
//   loan.close();                      // throws if something lies there still
//
// LibTorch asks one allocator of the process for the memory of tensors; ours (`lendToLibTorch`)
// serves a thread from its innermost loan, and as before where there is none. Blocks that come back
// are used again: first fit, neighbours merged. A request that does not fit, and memory that
// outlives its loan, is a KernelError. Headers of tensors come from malloc all the same.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "kernels/KernelError.h"

namespace vime {

class Loan {
public:
  /// `memory` at any address; it becomes the thread's until this loan is destroyed, then the loan
  /// before it is again.
  Loan(void *memory, std::size_t bytes);
  ~Loan();
  Loan(const Loan &) = delete;
  Loan &operator=(const Loan &) = delete;

  /// The end of what may use it. Throws where memory is still in use, or was once too little.
  void close();
  /// Throws where there was too little memory: LibTorch wraps exceptions into words of its own.
  void rethrowRefusal() const;

  /// Most bytes in use at one time, rounding included.
  std::size_t peak() const { return mostUsed; }

  /// Of this thread; null without a loan.
  static Loan *current();

private:
  friend class LoanAllocator;
  struct Block {
    std::size_t bytes;
    bool isFree;
  };
  void *take(std::size_t bytes);
  void giveBack(std::size_t offset);

  std::byte *const memory; // aligned
  const std::size_t bytes;
  Loan *const outer;
  std::map<std::size_t, Block> blocks; // by offset, without gaps
  std::size_t used = 0, mostUsed = 0, count = 0;
  std::string refusal;
};

/// Replaces LibTorch's CPU allocator, once for the process.
void lendToLibTorch();

} // namespace vime
