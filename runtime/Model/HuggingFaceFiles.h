// HuggingFaceFiles: the JSON files of a Hugging Face directory as plain values, so that one file
// knows JSON.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runtime/Base/Status.h"
#include "runtime/ModelSpec/ModelSpec.h"

namespace vime {

std::string huggingFaceConfigText(const ModelConfig &config, std::uint32_t positions);

/// model.safetensors.index.json: the file in which each tensor lies.
StatusOr<std::map<std::string, std::string>> readIndex(const std::string &path);
/// Whether an export of ours wrote it.
bool isOurIndex(const std::string &path);
std::string indexText(const std::map<std::string, std::string> &fileOf, std::uint64_t bytes);

} // namespace vime
