// LaunchFlags: flags of Megatron, vime and slime that are no fields of a job by another name
// (FieldSpec::aliases): those that hold in every job anyway, and those that nothing of a job says.
#pragma once

#include <string_view>

namespace vime {

/// Whether a flag with this value asks for what every job has: `swiglu`, `attention-dropout 0`.
bool isImplied(std::string_view flag, std::string_view value);

/// Why a job cannot say it; empty: nothing is known of the flag.
std::string_view whyNot(std::string_view flag);

} // namespace vime
