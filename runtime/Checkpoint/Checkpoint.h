// Checkpoint: one that is to be read.
//
//   auto checkpoint = Checkpoint::open("out/text.ckpt/step-000100");
//   checkpoint->manifest().progress.steps                      // 100
//   checkpoint->load(config, spec, {weights, moments});        // a stage of this run
//
// A stage takes its tensors by their names from whichever shards hold them: stages and ranks may be
// others than those of the run that was saved.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/Base/Status.h"
#include "runtime/Checkpoint/Manifest.h"
#include "runtime/Checkpoint/StageTensors.h"

namespace vime {

class Checkpoint {
public:
  /// Reads the manifest. File: cannot be read. Unacceptable: it is damaged or of another version.
  static StatusOr<Checkpoint> open(const std::string &path);

  const std::string &path() const { return directory; }
  const Manifest &manifest() const { return content; }

  /// Reads every byte. Unacceptable: something is missing or damaged, with its name.
  Status verify() const;

  /// Fills a stage's memory; every byte of it that belongs to no tensor becomes zero, weights that
  /// are rounded masters among them. Unacceptable:
  /// a tensor is missing, has another shape or is damaged.
  Status load(const ModelConfig &config, const StageSpec &spec,
              StageMemory<std::byte> memory) const;

private:
  Checkpoint(std::string directory, Manifest content)
      : directory(std::move(directory)), content(std::move(content)) {}

  std::string directory;
  Manifest content;
};

} // namespace vime
