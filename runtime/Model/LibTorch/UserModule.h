// UserModule: the part of a TorchScript file that one stage computes.
//
// The file holds a module with three members: `embedding`, which takes token ids [samples, tokens]
// (int64) and gives the first activation [samples, tokens, hidden]; `layers`, a ModuleList whose
// members take an activation and give the next; and `head`, which takes the last one and gives the
// logits [samples, tokens, vocab]. A microbatch is one call for each run of samples of one length.
//
// Parameters lie in the plan's weights: the module's own are made to point there. Each member has
// one flat vector, its parameters in the order of `parameters()`. Everything else in the file is a
// constant.
#pragma once

#include <string>
#include <vector>

#include <torch/csrc/jit/api/module.h>

#include "kernels/Kernels.h"
#include "runtime/Base/Status.h"
#include "runtime/Model/LibTorchPlugin.h"

namespace vime {

class UserModule {
public:
  /// InvalidInput: there is no such file, it is none, or not the model that `config` describes.
  static StatusOr<UserModule> load(const ModelConfig &config, const ModuleStage &stage);

  /// The values that the file has, into the plan's weights; before `bind`.
  void copyParametersTo(void *weights) const;
  /// From here on the module computes with these weights.
  void bind(const void *weights);

  /// Of `bind`'s memory, in the order of their elements.
  const std::vector<at::Tensor> &parameters() const { return own; }
  /// The same part of other memory that is laid out as the weights are.
  std::vector<at::Tensor> viewsOf(void *memory) const;

  /// All members one behind the other. Throws KernelError where one of them gives another shape
  /// than it should.
  at::Tensor run(at::Tensor input);

private:
  struct Member {
    std::string name; // `layers.3`
    torch::jit::Module module;
    std::int64_t width; // of what it gives
  };
  struct Place {
    std::vector<std::int64_t> shape;
    std::int64_t offset; // elements, in the stage's weights
  };

  Status addMember(const ModelConfig &config, std::string name, torch::jit::Module module,
                   std::int64_t width, std::uint64_t elements, std::uint64_t offset);
  Status tryOnce(const ModelConfig &config, const StageRange &range);

  c10::ScalarType type = c10::ScalarType::Float;
  std::vector<Member> members;
  std::vector<at::Tensor> own; // parameters of the module; their memory is the file's until `bind`
  std::vector<Place> places;   // of each
  const void *boundTo = nullptr;
};

} // namespace vime
