// An example for each code of rule J. Every `wrong` leads to its code and every `right` to a job
// that compiles: tests/reference reads them.
#include <array>

#include "compiler/Reference/CodePage.h"

namespace vime {

namespace {

constexpr std::string_view kModel =
    "  policy:  {family: llama, layers: 8, hidden: 64, heads: 4, ffn: 172, vocab: 256}";
constexpr std::string_view kActor = "  actor:   {model: policy, ranks: 0-3, parallel: {pp: 4}}";
constexpr std::string_view kPipeline =
    "pipeline:  {schedule: 1f1b, microbatches: 8, microbatch: 4 samples}";
constexpr std::string_view kData = "data:      {text: corpus.txt, sequence: 128 tokens}";
constexpr std::string_view kRun = "run:       {steps: 200}";
constexpr bool kRounds = true;

constexpr std::array kExamples = {
    JobExample{JobCode::EmptyFile, "", "version: 1",
               "start with `version: 1`, or copy a job from examples/"},
    JobExample{JobCode::Encoding, "name: caf\xC3", "name: cafe",
               "save the file as UTF-8 and delete what is invisible"},
    JobExample{JobCode::Tab, "run:\n\tsteps: 200", "run:\n  steps: 200",
               "indent with spaces, two for each level"},
    JobExample{JobCode::Syntax, "run:       {steps: 200", kRun,
               "close every bracket, and put text that contains `: ` into quotes"},
    JobExample{JobCode::UnsupportedYaml, "run:       {steps: &n 200}", kRun,
               "write every value where it is needed: a job has no anchors, merge keys or tags"},
    JobExample{JobCode::TooLarge, "run:       {steps: [[[[[[[[[[[[[[[[[[200]]]]]]]]]]]]]]]]]]}",
               kRun, "a job has a few sections, three levels deep at most"},
    JobExample{JobCode::NotASection, "run:       200", kRun, "give the section its keys"},

    JobExample{JobCode::Version, "version: 2", "version: 1",
               "write `version: 1`, the format that this program reads"},
    JobExample{JobCode::UnknownKey, "run:       {stepps: 200}", kRun,
               "take the spelling that the message suggests; `vimec explain run` lists the keys"},
    JobExample{JobCode::DuplicateKey, "run:       {steps: 200, steps: 100}", kRun,
               "keep one of them"},
    JobExample{JobCode::MissingKey, "optimizer: {kind: adamw}",
               "optimizer: {kind: adamw, lr: 3.0e-4}",
               "add it; `vimec explain optimizer.lr` says what it takes"},
    JobExample{JobCode::LaterKey, "staleness: {max_versions: 2}", kRun, "leave it out"},
    JobExample{JobCode::LaterValue, "cluster:   {ranks: 4, device: rocm}",
               "cluster:   {ranks: 4, device: cpu}", "use one of the values that there are"},
    JobExample{JobCode::UnusedValue, "  policy:  {family: null, layers: 8, hidden: 64}",
               "  policy:  {family: null, layers: 8}",
               "remove it: nothing that a job says is ignored"},

    JobExample{JobCode::WrongType, "run:       {steps: many}", kRun,
               "`vimec explain FIELD` says what a field takes"},
    JobExample{JobCode::Unit, "data:      {text: corpus.txt, sequence: 128 samples}", kData,
               "write the number and its unit"},
    JobExample{JobCode::Range, "run:       {steps: 0}", "run:       {steps: 1}",
               "stay in the range that the message names"},
    JobExample{JobCode::UnknownWord,
               "pipeline:  {schedule: 1f1c, microbatches: 8, microbatch: 4 samples}", kPipeline,
               "use one of the words that the message lists"},
    JobExample{JobCode::Name, "name: my job", "name: my-job",
               "use letters, digits, `.`, `_` and `-`"},

    JobExample{JobCode::UnknownModel, "  actor:   {model: polici, ranks: 0-3, parallel: {pp: 4}}",
               kActor, "name one of `models`"},
    JobExample{JobCode::UnusedModel,
               "  policy:  {family: null, layers: 8}\n  spare:   {family: null, layers: 8}",
               "  policy:  {family: null, layers: 8}", "remove it, or let a role use it"},
    JobExample{JobCode::RoleRanks, "  actor:   {model: policy, ranks: 0-1, parallel: {pp: 2}}",
               kActor, "give the actor all ranks of the cluster"},
    JobExample{JobCode::MeshSize, "  actor:   {model: policy, ranks: 0-3, parallel: {pp: 3}}",
               kActor, "let the product of the axes be the number of ranks"},
    JobExample{JobCode::TooManyStages,
               "  policy:  {family: llama, layers: 2, hidden: 64, heads: 4, ffn: 172, vocab: 256}",
               kModel, "give the model more layers, or the pipeline fewer ranks or chunks"},
    JobExample{JobCode::OrderRefuses,
               "pipeline:  {schedule: interleaved, chunks: 2, microbatches: 11, microbatch: 4 "
               "samples}",
               "pipeline:  {schedule: interleaved, chunks: 2, microbatches: 12, microbatch: 4 "
               "samples}",
               "use the nearest numbers that the message names, or another order"},
    JobExample{JobCode::Heads,
               "  policy:  {family: llama, layers: 8, hidden: 64, heads: 5, ffn: 172, vocab: 256}",
               kModel, "let the heads divide the width, and the key-value heads the heads"},
    JobExample{JobCode::Vocabulary,
               "  policy:  {family: llama, layers: 8, hidden: 64, heads: 4, ffn: 172, vocab: 100}",
               kModel, "write `vocab: 256`, or more"},
    JobExample{JobCode::MicrobatchTokens,
               "pipeline:  {schedule: 1f1b, microbatches: 8, microbatch: 65536 samples}\n"
               "data:      {text: corpus.txt, sequence: 1024 tokens}",
               kPipeline, "use smaller microbatches, and more of them"},
    JobExample{JobCode::MemoryLimit,
               "cluster:   {ranks: 4, memory: 64GiB}\n"
               "pipeline:  {schedule: 1f1b, microbatches: 8, microbatch: 4 samples, memory_limit: "
               "80GiB}",
               kPipeline, "lower `pipeline.memory_limit`, or leave it out"},
    JobExample{JobCode::StepTokens,
               "pipeline:  {schedule: 1f1b, microbatches: 1024, microbatch: 8192 samples}",
               kPipeline, "use fewer microbatches, or smaller ones"},
    JobExample{JobCode::BatchSize,
               "pipeline:  {schedule: 1f1b, microbatches: 8, microbatch: 4 samples}\n"
               "batch:     {global: 30 samples}",
               "pipeline:  {schedule: 1f1b, microbatch: 4 samples}\n"
               "batch:     {global: 32 samples}",
               "state the batch or the number of microbatches; the other one follows"},
    JobExample{JobCode::Slices,
               "pipeline:  {schedule: seq1f1b, microbatches: 8, microbatch: 4 samples, slices: 3}",
               "pipeline:  {schedule: seq1f1b, microbatches: 8, microbatch: 4 samples, slices: 4}",
               "let the number of slices divide the tokens of a sample, whose length is one"},

    JobExample{JobCode::RoleModel, "  policy:  {family: null, layers: 8}", kModel,
               "let the engines and the reference have the actor's model", kRounds},
    JobExample{JobCode::RoundInterval, "checkpoint: {dir: out, every: 3 steps}",
               "checkpoint: {dir: out, every: 4 steps}",
               "save behind whole rounds: a round has as many steps as its samples fill", kRounds},
    JobExample{JobCode::RewardJudges, "reward:    {rule: exact-answer, command: python3 judge.py}",
               "reward:    {rule: exact-answer}", "keep one of `rule`, `command` and `url`",
               kRounds},
    JobExample{JobCode::Algorithm, "batch:     {prompts: 16, samples_per_prompt: 1}",
               "batch:     {prompts: 16, samples_per_prompt: 8}",
               "`vimec explain algorithm.advantage` says what each compares", kRounds},

    JobExample{JobCode::Checkpoint, "  policy:  {checkpoint: no-such-folder}", kModel,
               "name a Hugging Face directory with a config.json that can be read"},
    JobExample{JobCode::CheckpointDiffers, "  policy:  {checkpoint: checkpoint, layers: 12}",
               "  policy:  {checkpoint: checkpoint}",
               "leave the size out: it is read from the checkpoint"},
    JobExample{
        JobCode::ModelRefused,
        "  policy:  {family: llama, layers: 8, hidden: 64, heads: 4096, head_width: 1024, ffn: "
        "172, vocab: 256}",
        kModel, "choose sizes that the message allows"},
    JobExample{JobCode::ModuleUnreadable,
               "  policy:  {family: torchscript, layers: 8, hidden: 64, vocab: 256, module: "
               "no-such-module.pt, embedding_parameters: 16384, layer_parameters: 4160, "
               "head_parameters: 16384, task_memory: 64MiB}",
               "  policy:  {family: torchscript, layers: 8, hidden: 64, vocab: 256, module: "
               "module.pt, embedding_parameters: 16384, layer_parameters: 4160, "
               "head_parameters: 16384, task_memory: 64MiB}",
               "a relative path counts from the folder of the job file"},

    JobExample{JobCode::TextUnreadable, "data:      {text: no-such-file.txt, sequence: 128 tokens}",
               kData, "a relative path counts from the folder of the job file"},
    JobExample{JobCode::TextTooShort, "data:      {text: short.txt, sequence: 128 tokens}", kData,
               "use a longer text, or smaller steps"},
    JobExample{JobCode::PackedSteps,
               "pipeline:  {schedule: 1f1b, microbatches: 7, microbatch: 512 tokens}\n"
               "batch:     {global: 32 samples}",
               "pipeline:  {schedule: 1f1b, microbatch: 512 tokens}\n"
               "batch:     {global: 32 samples}",
               "leave `pipeline.microbatches` out: it follows from the text"},

    JobExample{JobCode::PromptsUnreadable,
               "data:      {prompts: no-such-file.jsonl, max_prompt: 40 tokens}",
               "data:      {prompts: train.jsonl, max_prompt: 40 tokens}",
               "write one prompt a line, as JSON; a relative path counts from the folder of the "
               "job file",
               kRounds},

    JobExample{JobCode::MachineUnreadable,
               "cluster:   {ranks: 4, device: cpu, machine: no-such-machine.yaml}",
               "cluster:   {ranks: 4, device: cpu, machine: h100-80g}",
               "name a profile, or a file from the folder of the job; `vimec machines` lists and "
               "prints them"},

    JobExample{JobCode::OrderCell, "pipeline:  {schedule: orders/typo.csv, microbatch: 4 samples}",
               "pipeline:  {schedule: orders/mine.csv, microbatch: 4 samples}",
               "write stage, kind and microbatch, as in `2F0`; the note shows the kinds"},
    JobExample{JobCode::OrderUnreadable,
               "pipeline:  {schedule: orders/nowhere.csv, microbatch: 4 samples}",
               "pipeline:  {schedule: orders/mine.csv, microbatch: 4 samples}",
               "a relative path counts from the folder of the job file"},
    JobExample{JobCode::OrderDiffers,
               "pipeline:  {schedule: orders/mine.csv, microbatches: 3, microbatch: 4 samples}",
               "pipeline:  {schedule: orders/mine.csv, microbatch: 4 samples}",
               "leave out what the table says itself"},
    JobExample{JobCode::Layout,
               "pipeline:  {schedule: 1f1b, microbatches: 8, microbatch: 4 samples, layout: [3, 2, "
               "2, 2]}",
               "pipeline:  {schedule: 1f1b, microbatches: 8, microbatch: 4 samples, layout: [3, 2, "
               "2, 1]}",
               "let the layers of all stages add up to those of the model"},
    JobExample{JobCode::Placement,
               "pipeline:  {schedule: 1f1b, microbatches: 8, microbatch: 4 samples, placement: [0, "
               "1, 2, 2]}",
               "pipeline:  {schedule: 1f1b, microbatches: 8, microbatch: 4 samples, placement: [3, "
               "1, 2, 0]}",
               "give each rank of the schedule one number of its own"},
    JobExample{JobCode::ReceiveSlots,
               "pipeline:  {schedule: 1f1b, microbatches: 8, microbatch: 4 samples, receive_slots: "
               "[3, 2]}",
               "pipeline:  {schedule: 1f1b, microbatches: 8, microbatch: 4 samples, receive_slots: "
               "[3, 2, 2, 2]}",
               "give one number for all ranks of the pipeline, or one for each"},
};

} // namespace

std::span<const JobExample> jobExamples() { return kExamples; }

} // namespace vime
