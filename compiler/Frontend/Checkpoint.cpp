// readCheckpoints: config.json beside the job's own sizes.
#include "compiler/Frontend/Checkpoint.h"

#include <array>
#include <filesystem>

#include "compiler/Frontend/ReadJob.h"
#include "runtime/ModelSpec/HuggingFaceConfig.h"

namespace vime {

namespace {

constexpr std::array<std::string_view, 11> kKeysOfCheckpoint = {
    "family", "layers", "hidden",     "heads",        "kv_heads", "head_width",
    "ffn",    "vocab",  "rope_theta", "norm_epsilon", "tied"};

// `Qwen/Qwen3-0.6B`, and no directory.
bool looksLikeHub(std::string_view checkpoint, const std::string &directory) {
  std::error_code error;
  const std::size_t slash = checkpoint.find('/');
  return slash != 0 && slash != checkpoint.npos && slash == checkpoint.rfind('/') &&
         !checkpoint.starts_with('.') && !std::filesystem::exists(directory, error);
}

class CheckpointReader {
public:
  CheckpointReader(Draft &draft, Job::NamedModel &model)
      : draft(draft), model(model), section("models." + model.name),
        checkpoint(section + ".checkpoint") {}

  void run() {
    if (draft.isSpoiled(checkpoint)) // sizes may be there; nobody knows
      return spoilMissing();
    if (!draft.isKnown(checkpoint) || draft.isSpoiled(section + ".dtype"))
      return;
    const std::string directory = pathFromJob(draft.job.file, model.checkpoint.value);
    const StatusOr<ModelConfig> config = readHuggingFaceConfig(directory, model.config.type);
    if (!config.ok()) {
      Finding &finding =
          draft.error(JobCode::Checkpoint,
                      "checkpoint of model `" + model.name + "`: " + config.status().message(),
                      model.checkpoint.span, "cannot be used");
      finding.note("relative paths count from the job file's folder");
      if (looksLikeHub(model.checkpoint.value, directory))
        finding.withHelp("models are not fetched from a hub: name a directory with their files");
      return spoilMissing();
    }
    for (const std::string_view key : kKeysOfCheckpoint)
      takeOrCompare(*findField(join(section, key)), *config);
  }

private:
  void spoilMissing() {
    for (const std::string_view key : kKeysOfCheckpoint)
      if (const std::string path = join(section, key); !draft.isKnown(path))
        draft.leaveOpen(path);
  }

  void takeOrCompare(const FieldSpec &field, const ModelConfig &config) {
    const std::string path = join(section, field.key());
    const Job::NamedModel theirs{.name = model.name, .config = config};
    const Value value = field.binding.load(draft.job, &theirs);
    if (draft.isKnown(path) && draft.value(path) != value)
      differs(field, path, value);
    else if (!draft.isKnown(path) && !draft.isSpoiled(path))
      draft.store(field, path, value,
                  {.kind = OriginKind::Derived, .span = model.checkpoint.span, .from = checkpoint});
  }

  void differs(const FieldSpec &field, const std::string &path, const Value &theirs) {
    draft
        .error(JobCode::CheckpointDiffers,
               '`' + path + "` is " + printValue(field, draft.value(path)) + ", but " +
                   printValue(field, theirs) + " in the checkpoint",
               draft.origin(path).span, "differs")
        .note("the checkpoint is stated here", model.checkpoint.span)
        .withHelp("leave it out: it is read from the checkpoint");
  }

  Draft &draft;
  Job::NamedModel &model;
  std::string section, checkpoint;
};

} // namespace

void readCheckpoints(Draft &draft) {
  for (Job::NamedModel &model : draft.job.models)
    CheckpointReader(draft, model).run();
}

} // namespace vime
