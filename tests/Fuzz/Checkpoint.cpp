// Fuzz target `checkpoint`: a folder with a whole checkpoint in which the first shard or the
// manifest was changed, by somebody who can make hashes.
//
// Input: edits, each a place, a length and the bytes that are there afterwards; the first ones are
// of the shard, what follows an edit of no bytes is of the manifest.
#include "runtime/Checkpoint/Checkpoint.h"

#include <fstream>
#include <iterator>

#include "runtime/Checkpoint/Choose.h"
#include "runtime/Checkpoint/ShardFile.h"
#include "tests/Fuzz/InputReader.h"
#include "tests/Fuzz/Target.h"
#include "tests/checkpoint/SavedRun.h"

namespace vime::fuzz {
namespace {

constexpr std::uint64_t kSteps = 5;

void edit(std::string &bytes, InputReader &input) {
  while (!input.isEmpty()) {
    const std::size_t at = input.below(bytes.size() + 1);
    const auto removed = input.number<std::uint8_t>();
    const std::string_view added = input.text(input.number<std::uint8_t>() % 64);
    if (removed == 0 && added.empty())
      return;
    if (removed == 0xFF)
      bytes.resize(at);
    else
      bytes.replace(at, removed, added);
  }
}

std::string contentsOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string &path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// The checkpoint that all inputs change.
struct Base {
  Base() {
    must(run.save(kSteps).ok(), "a checkpoint can be saved");
    manifest = Checkpoint::open(run.pathOf(kSteps))->manifest();
    shardPath = run.pathOf(kSteps) + '/' + manifest.shards[0].file;
    shard = contentsOf(shardPath);
  }
  SavedRun run;
  Manifest manifest;
  std::string shardPath, shard;
};

/// With what the manifest says of the shard, where it can be read at all.
std::string manifestOf(const Base &base) {
  Manifest manifest = base.manifest;
  if (const StatusOr<ShardFile> shard = ShardFile::open(base.shardPath); shard.ok()) {
    manifest.shards[0].bytes = shard->bytes();
    manifest.shards[0].headerHash = shard->headerHash();
  }
  return manifestText(manifest);
}

void isRead(const Base &base) {
  const StatusOr<Checkpoint> checkpoint = Checkpoint::open(base.run.pathOf(kSteps));
  if (checkpoint.ok()) {
    (void)checkpoint->verify();
    for (const std::uint32_t stages : {1u, 2u, 4u})
      for (const StageSpec &stage : savedStages(stages)) {
        StageBytes bytes(stage);
        (void)checkpoint->load(savedModel(), stage, bytes.memory());
      }
  }
  const StatusOr<Choice> choice = chooseCheckpoint(base.run.directory, base.run.identity, 100);
  must(!choice.ok() || choice->checkpoint.verify().ok(), "a checkpoint that is taken is whole");
}

} // namespace

void eat(std::string_view bytes) {
  static const Base kBase;
  InputReader input(bytes);
  std::string shard = kBase.shard;
  edit(shard, input);
  write(kBase.shardPath, shard);
  std::string manifest = manifestOf(kBase);
  edit(manifest, input);
  write(kBase.run.pathOf(kSteps) + '/' + kManifestName, manifest);
  isRead(kBase);
}

std::vector<std::string> seeds() {
  std::vector<std::string> seeds = {std::string("\x20\0\x01\x01z", 5), std::string(4, '\0')};
  addRandomInputs(seeds, 20, 40);
  return seeds;
}

} // namespace vime::fuzz
