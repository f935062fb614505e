#include "runtime/Checkpoint/Manifest.h"

#include <charconv>
#include <set>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/Base/FileHash.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char *kFormat = "vime checkpoint";

Json jsonOf(const Manifest &manifest) {
  Json json = {{"format", kFormat},
               {"version", kManifestVersion},
               {"steps", manifest.progress.steps},
               {"updates", manifest.progress.updates},
               {"samples", manifest.progress.samples},
               {"plan", manifest.plan},
               {"run", Json::object()},
               {"shards", Json::array()},
               {"tensors", Json::object()}};
  for (const auto &[fact, value] : manifest.identity)
    json["run"][fact] = value;
  for (const ShardRecord &shard : manifest.shards)
    json["shards"].push_back({{"file", shard.file},
                              {"bytes", shard.bytes},
                              {"header_hash", plan::toHex(shard.headerHash)}});
  for (const auto &[tensor, shard] : manifest.shardOf)
    json["tensors"][tensor] = manifest.shards[shard].file;
  return json;
}

/// Of everything but the hash itself, however it was laid out.
std::string hashOf(const Json &json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return plan::toHex(hashBytes(std::as_bytes(std::span(text))));
}

Status refuse(std::string what) { return Status(StatusCode::Unacceptable, std::move(what)); }

bool take(const Json &json, const char *key, std::uint64_t &to) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_unsigned())
    return false;
  to = found->get<std::uint64_t>();
  return true;
}

bool take(const Json &json, const char *key, std::string &to) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string())
    return false;
  to = found->get<std::string>();
  return true;
}

bool takeHash(const Json &json, const char *key, std::array<std::uint64_t, 2> &to) {
  std::string text;
  if (!take(json, key, text) || text.size() != 32)
    return false;
  for (std::size_t half = 0; half < 2; ++half) { // the high half first
    const char *begin = text.data() + 16 * half, *end = begin + 16;
    const auto [stop, error] = std::from_chars(begin, end, to[1 - half], 16);
    if (error != std::errc() || stop != end)
      return false;
  }
  return true;
}

bool takeShards(const Json &json, Manifest &manifest) {
  const auto shards = json.find("shards");
  if (shards == json.end() || !shards->is_array())
    return false;
  std::set<std::string> names;
  for (const Json &entry : *shards) {
    ShardRecord &shard = manifest.shards.emplace_back();
    if (!entry.is_object() || !take(entry, "file", shard.file) ||
        !take(entry, "bytes", shard.bytes) || !takeHash(entry, "header_hash", shard.headerHash))
      return false;
    // A name that leaves the directory would read what the user did not point at.
    if (shard.file.empty() || shard.file[0] == '.' || shard.file.find('/') != std::string::npos ||
        shard.file.find('\0') != std::string::npos || !names.insert(shard.file).second)
      return false;
  }
  return true;
}

bool takeTensors(const Json &json, Manifest &manifest) {
  const auto tensors = json.find("tensors");
  if (tensors == json.end() || !tensors->is_object())
    return false;
  std::map<std::string, std::uint32_t> indexOf;
  for (std::uint32_t shard = 0; shard < manifest.shards.size(); ++shard)
    indexOf[manifest.shards[shard].file] = shard;
  for (const auto &[tensor, file] : tensors->items()) {
    const auto shard =
        file.is_string() ? indexOf.find(file.get_ref<const std::string &>()) : indexOf.end();
    if (shard == indexOf.end() || !manifest.shardOf.emplace(tensor, shard->second).second)
      return false;
  }
  return true;
}

bool takeIdentity(const Json &json, Identity &identity) {
  const auto run = json.find("run");
  if (run == json.end() || !run->is_object())
    return false;
  for (const auto &[fact, value] : run->items())
    if (!value.is_string() || !identity.emplace(fact, value.get<std::string>()).second)
      return false;
  return true;
}

} // namespace

std::string manifestText(const Manifest &manifest) {
  Json json = jsonOf(manifest);
  json["hash"] = hashOf(json);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

StatusOr<Manifest> parseManifest(std::string_view text) {
  // What is printed again to be hashed must not be nested without end.
  constexpr int kDeepest = 4;
  const auto notTooDeep = [](int depth, Json::parse_event_t, Json &) { return depth <= kDeepest; };
  Json json = Json::parse(text, notTooDeep, /*allow_exceptions=*/false);
  std::string format, hash;
  std::uint64_t version = 0;
  if (!json.is_object() || !take(json, "format", format) || format != kFormat ||
      !take(json, "version", version))
    return refuse("it is no manifest of a checkpoint");
  if (version != kManifestVersion)
    return refuse(fmt::format("it has version {}, this program knows {}", version,
                              kManifestVersion));
  const bool hasHash = take(json, "hash", hash);
  json.erase("hash");
  if (!hasHash || hash != hashOf(json))
    return refuse("it is damaged");
  Manifest manifest;
  if (!take(json, "steps", manifest.progress.steps) ||
      !take(json, "updates", manifest.progress.updates) ||
      !take(json, "samples", manifest.progress.samples) || !take(json, "plan", manifest.plan) ||
      !takeIdentity(json, manifest.identity) || !takeShards(json, manifest) ||
      !takeTensors(json, manifest))
    return refuse("it is incomplete");
  return manifest;
}

} // namespace vime
