// Target: one reader of bytes from outside, to be fed with anything.
//
//   fuzz_order -max_total_time=600 corpus     built by clang: libFuzzer makes inputs
//   (LibFuzzer.cpp) fuzz_order corpus…                        built as the rest: eats what lies
//   there (Replay.cpp)
//
// A target file defines `eat` and `seeds`, nothing else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vime::fuzz {

/// Reads the bytes as the tools do and uses whatever was read. May find them wrong, nothing else.
void eat(std::string_view bytes);

/// Inputs to start from that code makes better than files: they follow the formats as they change.
std::vector<std::string> seeds();

/// Ends the program, with the sentence, where something does not hold that must for any input.
void must(bool holds, std::string_view sentence);

} // namespace vime::fuzz
