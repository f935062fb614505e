#include "runtime/Exec/RoutineTable.h"

#include "runtime/Exec/Routines/Routines.h"

namespace vime {
namespace {

using plan::Opcode;

struct Entry {
  Opcode opcode;
  Routine routine;
};

constexpr Entry kPlain[] = {
    {Opcode::Send, routines::send},
    {Opcode::Receive, routines::receive},
    {Opcode::Broadcast, routines::broadcast},
    {Opcode::Gather, routines::gather},
    {Opcode::AllGather, routines::allGather},
    {Opcode::AllReduce, routines::sum},
    {Opcode::ReduceSquares, routines::sum},
    {Opcode::Reshard, routines::reshard},
    {Opcode::Copy, routines::copy},
    {Opcode::Join, routines::join},
    {Opcode::Measure, routines::measure},
    {Opcode::MeasureEvaluation, routines::measureEvaluation},
};

constexpr Entry kTraining[] = {
    {Opcode::Forward, routines::forward},
    {Opcode::Loss, routines::loss},
    {Opcode::PolicyLoss, routines::policyLoss},
    {Opcode::Advantage, routines::advantage},
    {Opcode::Evaluate, routines::forward},
    {Opcode::Infer, routines::forward},
    {Opcode::LogProbabilities, routines::logProbabilities},
    {Opcode::EvaluateLoss, routines::loss},
    {Opcode::Backward, routines::backward},
    {Opcode::BackwardInput, routines::backwardInput},
    {Opcode::BackwardWeight, routines::backwardWeight},
    {Opcode::Unshard, routines::unshard},
    {Opcode::ReduceScatter, routines::reduceScatter},
    {Opcode::BroadcastWeights, routines::broadcastWeights},
    {Opcode::Initialize, routines::initialize},
    {Opcode::AddTied, routines::addTied},
    {Opcode::ScaleGradients, routines::scaleGradients},
    {Opcode::SquareNorm, routines::squareNorm},
    {Opcode::Clip, routines::clip},
    {Opcode::Optimize, routines::optimize},
    {Opcode::OptimizeEarly, routines::optimizeEarly},
    {Opcode::Settle, routines::settle},
    {Opcode::Redo, routines::redo},
    {Opcode::Decide, routines::decide},
    {Opcode::Load, routines::load},
    {Opcode::Report, routines::report},
    {Opcode::LoadEvaluation, routines::loadEvaluation},
    {Opcode::ReportEvaluation, routines::reportEvaluation},
    {Opcode::ExportShard, routines::exportShard},
    {Opcode::ExportCommit, routines::exportCommit},
    {Opcode::DrawPrompts, routines::drawPrompts},
    {Opcode::DrawEvaluation, routines::drawEvaluation},
    {Opcode::Score, routines::score},
    {Opcode::ScoreEvaluation, routines::scoreEvaluation},
    {Opcode::Pack, routines::pack},
    {Opcode::LoadRound, routines::loadRound},
    {Opcode::Wake, routines::wake},
    {Opcode::Pause, routines::pause},
    {Opcode::Flush, routines::flush},
    {Opcode::Install, routines::install},
    {Opcode::Publish, routines::publish},
    {Opcode::Resume, routines::resume},
    {Opcode::Generate, routines::generate},
    {Opcode::Snapshot, routines::snapshot},
    {Opcode::CheckpointShard, routines::checkpointShard},
    {Opcode::CheckpointCommit, routines::checkpointCommit},
};

} // namespace

RoutineTable plainRoutines() {
  RoutineTable table;
  for (const Entry &entry : kPlain)
    table[plan::code(entry.opcode)] = entry.routine;
  return table;
}

RoutineTable trainingRoutines() {
  RoutineTable table = plainRoutines();
  for (const Entry &entry : kTraining)
    table[plan::code(entry.opcode)] = entry.routine;
  return table;
}

} // namespace vime
