#include "runtime/Exec/RunRoutine.h"

#include <exception>
#include <new>

#include <fmt/format.h>

#include "kernels/KernelError.h"

namespace vime {

Status runRoutine(RankState &state, const Instruction &instruction, bool &threw) {
  try {
    return instruction.routine(state, instruction);
  } catch (const KernelError &error) {
    threw = true;
    return Status(StatusCode::RankFailed, error.what());
  } catch (const std::bad_alloc &) {
    threw = true;
    return Status(StatusCode::RankFailed, "no memory is left");
  } catch (const std::exception &error) {
    threw = true;
    return Status(StatusCode::RankFailed, fmt::format("an exception: {}", error.what()));
  } catch (...) {
    threw = true;
    return Status(StatusCode::RankFailed, "an exception that says nothing");
  }
}

} // namespace vime
