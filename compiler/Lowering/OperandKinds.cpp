#include "compiler/Lowering/OperandKinds.h"

namespace vime {

using namespace plan;

std::vector<BufferKind> operandKinds(Opcode opcode) {
  using enum BufferKind;
  switch (opcode) {
  case Opcode::Forward:
  case Opcode::Evaluate:
  case Opcode::Infer:
    return {Header, Segments, Input, Weights, Stash, Output, Workspace, TiedWeights, Context};
  case Opcode::Loss:
  case Opcode::EvaluateLoss:
    return {Header, Segments, Labels, Stash, Losses};
  case Opcode::PolicyLoss:
    return {Header, Segments, Labels, Policy, Stash, Losses, Workspace, Reference};
  case Opcode::LogProbabilities:
    return {Header, Segments, Labels, Stash, Reference, Workspace};
  case Opcode::Advantage:
    return {Header, Segments, Labels, Policy, Reference, Workspace};
  case Opcode::BroadcastWeights:
  case Opcode::Install:
    return {Weights};
  case Opcode::DrawPrompts:
  case Opcode::DrawEvaluation:
    return {Header, Prompts, Samples};
  case Opcode::Score:
    return {Header, AllSamples, Round};
  case Opcode::ScoreEvaluation:
    return {Header, AllSamples};
  case Opcode::Pack:
    return {Header, Round};
  case Opcode::LoadRound:
    return {Header, Round, Tokens, Labels, Segments, Policy};
  case Opcode::Wake:
    return {Cache, Records};
  case Opcode::Publish:
    return {Header};
  case Opcode::Generate:
    return {Prompts, Records, Cache, Workspace, Samples};
  case Opcode::Backward:
    return {Header,        Segments,  OutputGradient,  Input,     Weights,
            Stash,         Gradients, InputGradient,   Workspace, TiedWeights,
            TiedGradients, Context,   ContextGradients};
  case Opcode::BackwardInput:
    return {Header,      Segments,      OutputGradient, Input,       Weights, Stash,
            WeightStash, InputGradient, Workspace,      TiedWeights, Context, ContextGradients};
  case Opcode::BackwardWeight:
    return {Header, Segments,    OutputGradient, Input,     Weights,
            Stash,  WeightStash, Gradients,      Workspace, TiedGradients};
  case Opcode::AllGather:
    return {Squares, AllSquares};
  case Opcode::AllReduce:
  case Opcode::ReduceScatter:
    return {Gradients, Staging};
  case Opcode::ReduceSquares:
    return {Squares, Staging};
  case Opcode::Unshard:
    return {WeightShare, Weights};
  case Opcode::Reshard:
    return {Weights};
  case Opcode::Initialize:
    return {Weights, Moments, Gradients};
  case Opcode::ScaleGradients:
    return {Header, Gradients};
  case Opcode::SquareNorm:
    return {Gradients, Squares};
  case Opcode::Clip:
    return {AllSquares, Scalars};
  case Opcode::Optimize:
    return {Header, Scalars, Gradients, Weights, Moments};
  case Opcode::OptimizeEarly:
    return {Header, Gradients, Weights, Moments, Kept};
  case Opcode::Settle:
    return {Header, AllSquares, Scalars};
  case Opcode::Redo:
    return {Scalars, Gradients, Kept, Weights, Moments};
  case Opcode::AddTied:
    return {TiedGradients, Gradients};
  case Opcode::Decide:
    return {Header};
  case Opcode::Load:
  case Opcode::LoadEvaluation:
    return {Header, Tokens, Labels, Segments};
  case Opcode::Report:
    return {Scalars, AllStats};
  case Opcode::ReportEvaluation:
    return {Header, AllStats};
  case Opcode::ExportShard:
    return {Weights, Stats};
  case Opcode::ExportCommit:
    return {ReplicaStats};
  case Opcode::Measure:
  case Opcode::MeasureEvaluation:
    return {Header, Losses, Stats};
  case Opcode::Snapshot:
    return {Header, Weights, Moments, BufferKind::Snapshot};
  case Opcode::CheckpointShard:
    return {BufferKind::Snapshot, Stats};
  case Opcode::CheckpointCommit:
    return {ReplicaStats};
  default:
    return {};
  }
}

} // namespace vime
