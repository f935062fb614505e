// Fuzz target `manifest`: checkpoint.json as it is, and with the hash that it should have.
#include "runtime/Checkpoint/Manifest.h"

#include <span>

#include <nlohmann/json.hpp>

#include "runtime/Base/FileHash.h"
#include "runtime/Plan/PlanFile.h"
#include "tests/Fuzz/Target.h"

namespace vime::fuzz {
namespace {

using Json = nlohmann::ordered_json;

void eatText(std::string_view text) {
  const StatusOr<Manifest> manifest = parseManifest(text);
  if (!manifest.ok())
    return must(!manifest.status().message().empty(), "a refusal says why");
  const StatusOr<Manifest> again = parseManifest(manifestText(*manifest));
  must(again.ok() && *again == *manifest, "a manifest is the same when it was written");
}

std::string withHash(std::string_view text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return std::string(text);
  json.erase("hash");
  const std::string content = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  json["hash"] = plan::toHex(hashBytes(std::as_bytes(std::span(content))));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace

void eat(std::string_view bytes) {
  eatText(bytes);
  eatText(withHash(bytes));
}

std::vector<std::string> seeds() {
  Manifest manifest{.progress = {.steps = 3, .updates = 2, .samples = 12, .bestLoss = 0.5},
                    .plan = "0123456789abcdef0123456789abcdef",
                    .identity = {{"run.seed", "7"}},
                    .shards = {{"stage-00000-of-00002.safetensors", 100, {1, 2}},
                               {"stage-00001-of-00002.safetensors", 200, {3, 4}}},
                    .shardOf = {{"embedding", 0}, {"head", 1}}};
  return {manifestText(manifest)};
}

} // namespace vime::fuzz
