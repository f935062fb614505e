#include "runtime/Model/LibTorch/UserModule.h"

#include <set>

#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <c10/util/StringUtil.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

#include "kernels/KernelError.h"
#include "kernels/LibTorch/Views.h"

namespace vime {
namespace {

Status refuse(std::string text) { return Status(StatusCode::InvalidInput, std::move(text)); }

/// The first line of what LibTorch says: the rest is where it said so.
std::string reasonOf(const std::exception &error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

std::uint64_t elementsOf(const torch::jit::Module &module) {
  std::uint64_t elements = 0;
  for (const at::Tensor &parameter : module.parameters())
    elements += std::uint64_t(parameter.numel());
  return elements;
}

/// A parameter of two members would have two places in the plan.
bool sharesParameters(const torch::jit::Module &module) {
  std::set<const c10::TensorImpl *> seen;
  for (const at::Tensor &parameter : module.parameters())
    if (!seen.insert(parameter.unsafeGetTensorImpl()).second)
      return true;
  return false;
}

std::string shapeOf(const at::Tensor &tensor) {
  return c10::str(tensor.scalar_type(), tensor.sizes());
}

} // namespace

StatusOr<UserModule> UserModule::load(const ModelConfig &config, const ModuleStage &stage) {
  try {
    UserModule result;
    result.type = scalarTypeOf(config.type);
    torch::jit::Module root = torch::jit::load(stage.file, c10::Device(c10::DeviceType::CPU));
    root.eval(); // a backward runs the forward again: both must do the same
    for (const char *member : {"embedding", "layers", "head"})
      if (!root.hasattr(member))
        return refuse(c10::str("`", stage.file, "` has no member `", member, "`"));
    if (sharesParameters(root))
      return refuse(c10::str("`", stage.file, "` uses one parameter in two places"));
    std::vector<torch::jit::Module> layers;
    for (const torch::jit::Module &layer : root.attr("layers").toModule().children())
      layers.push_back(layer);
    if (layers.size() != config.layers)
      return refuse(c10::str("`", stage.file, "` has ", layers.size(),
                             " layers, the plan was made for ", config.layers));
    const StageSpec spec = stageSpec(config, stage.range, stage.caps);
    std::size_t tensor = 0;
    const auto add = [&](std::string name, torch::jit::Module module, std::int64_t width,
                         std::uint64_t elements) {
      return result.addMember(config, std::move(name), std::move(module), width, elements,
                              spec.tensors[tensor++].offset);
    };
    Status status;
    if (stage.range.embedding)
      status = add("embedding", root.attr("embedding").toModule(), config.hidden,
                   config.embeddingElements);
    for (std::uint32_t layer = stage.range.first; layer < stage.range.end && status.ok(); ++layer)
      status = add(c10::str("layers.", layer), layers[layer], config.hidden, config.layerElements);
    if (stage.range.head && status.ok())
      status = add("head", root.attr("head").toModule(), config.vocab, config.headElements);
    if (status.ok())
      status = result.tryOnce(config, stage.range);
    if (!status.ok())
      return refuse(c10::str("`", stage.file, "`: ", status.message()));
    return result;
  } catch (const std::exception &error) {
    return refuse(c10::str("`", stage.file, "` cannot be used: ", reasonOf(error)));
  }
}

Status UserModule::addMember(const ModelConfig &config, std::string name, torch::jit::Module module,
                             std::int64_t width, std::uint64_t elements, std::uint64_t offset) {
  if (const std::uint64_t there = elementsOf(module); there != elements)
    return refuse(
        c10::str("`", name, "` has ", there, " parameters, the plan was made for ", elements));
  auto at = std::int64_t(offset);
  for (at::Tensor parameter : module.parameters()) {
    if (parameter.scalar_type() != scalarTypeOf(config.type))
      return refuse(c10::str("`", name, "` has parameters of type ", parameter.scalar_type(),
                             ", the plan was made for ", nameOf(config.type)));
    own.push_back(parameter.set_requires_grad(true));
    places.push_back({parameter.sizes().vec(), at});
    at += parameter.numel();
  }
  members.push_back({std::move(name), std::move(module), width});
  return Status();
}

/// One token through all members: whether their shapes are right, and whatever LibTorch makes at a
/// first call and keeps.
Status UserModule::tryOnce(const ModelConfig &config, const StageRange &range) {
  const c10::NoGradGuard withoutGradients;
  try {
    run(range.embedding ? at::zeros({1, 1}, c10::ScalarType::Long)
                        : at::zeros({1, 1, config.hidden}, type));
  } catch (const KernelError &error) {
    return refuse(error.what());
  }
  return Status();
}

void UserModule::copyParametersTo(void *weights) const {
  const c10::NoGradGuard withoutGradients;
  const std::vector<at::Tensor> views = viewsOf(weights);
  for (std::size_t index = 0; index < own.size(); ++index)
    views[index].copy_(own[index]);
}

void UserModule::bind(const void *weights) {
  if (boundTo == weights)
    return;
  const std::vector<at::Tensor> views = viewsOf(const_cast<void *>(weights));
  for (std::size_t index = 0; index < own.size(); ++index)
    own[index].set_data(views[index]);
  boundTo = weights;
}

std::vector<at::Tensor> UserModule::viewsOf(void *memory) const {
  std::vector<at::Tensor> views;
  const auto bytes = std::int64_t(c10::elementSize(type));
  for (const auto &[shape, offset] : places)
    views.push_back(at::from_blob(static_cast<std::byte *>(memory) + offset * bytes, shape, type));
  return views;
}

at::Tensor UserModule::run(at::Tensor input) {
  const torch::jit::GraphOptimizerEnabledGuard asWritten(false); // the same in every call
  const std::int64_t samples = input.size(0), tokens = input.size(1);
  for (Member &member : members) {
    torch::jit::IValue result = member.module.forward({std::move(input)});
    if (!result.isTensor())
      throw KernelError(c10::str("`", member.name, "` gives no tensor"));
    input = result.toTensor();
    if (input.sizes() != at::IntArrayRef{samples, tokens, member.width} ||
        input.scalar_type() != type)
      throw KernelError(c10::str("`", member.name, "` gives ", shapeOf(input), " where ", type, "[",
                                 samples, ", ", tokens, ", ", member.width, "] is due"));
  }
  return input;
}

} // namespace vime
