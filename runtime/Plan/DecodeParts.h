// DecodeParts: parts of a plan file, whose hashes are right, back into plan values.
//
// After FlatBuffers' own verifier every offset holds; numbers are taken as they stand, for
// `checkPlan` to judge, but for counts that would make small bytes a large plan. Each function says
// whether the bytes are such a part.
#pragma once

#include <string_view>

#include "runtime/Plan/Container.h"

namespace vime::plan {

/// Header of a file; null if the bytes are none. Lies in `bytes`, which are aligned to 16.
const file::Header *decodeHeader(std::string_view bytes);

/// All of a plan that lies in `common`; programs get their stage tables, layouts their number.
bool decodeCommon(std::string_view bytes, Plan &plan);
bool decodeProgram(std::string_view bytes, Program &program);
bool decodeLayout(std::string_view bytes, Layout &layout);
bool decodeConnect(std::string_view bytes, std::vector<ConnectRound> &rounds);
bool decodePredictions(std::string_view bytes, Predictions &predictions);
bool decodeOrigins(std::string_view bytes, std::vector<Origin> &origins);

} // namespace vime::plan
