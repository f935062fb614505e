// What holds actions and buffers: the plan, programs, lanes, stages, loops, layouts.

class StructureOp<string mnemonic, string type> : RecordOp<Plan_Dialect, mnemonic, type>;
class StructureRegionOp<string mnemonic, string type> : RecordRegionOp<Plan_Dialect, mnemonic, type>;

def Plan_PlanOp : StructureRegionOp<"plan", "::vime::ir::PlanHead"> {
  let summary = "a whole plan: programs, layouts, and the tables that all ranks share";
  let hasVerifier = 0;
  let hasRegionVerifier = 1;
}
def Plan_MeshOp : StructureOp<"mesh", "::vime::plan::Mesh"> {
  let summary = "sizes of the axes; their product is the number of ranks";
}
def Plan_RanksOp : StructureOp<"ranks", "::vime::ir::RanksRecord"> {
  let summary = "which program and which layout each coordinate along pp has";
  let hasVerifier = 0; // judged with the plan
}
def Plan_GroupOp : StructureOp<"group", "::vime::plan::Group"> {
  let summary = "an ordered stream of one collective";
}
def Plan_DecisionOp : StructureOp<"decision", "::vime::plan::DecisionRange"> {
  let summary = "what may vary, and the values that it may have";
}
def Plan_ConditionOp : StructureOp<"condition", "::vime::plan::Condition"> {
  let summary = "when guards and cases hold that name it by its place, counted from 1";
  let hasVerifier = 0; // judged with the plan
}
def Plan_ConnectOp : StructureOp<"connect", "::vime::plan::ConnectRound"> {
  let summary = "pairs of ranks that connect at the same time";
}
def Plan_ProgramOp : StructureRegionOp<"program", "::vime::ir::ProgramHead"> {
  let summary = "a rank's lanes and stages, then its actions in dispatch order";
  let hasVerifier = 0;
  let hasRegionVerifier = 1;
}
def Plan_LaneOp : StructureOp<"lane", "::vime::plan::Lane"> {
  let summary = "an in-order queue; actions name it by its place among the lanes";
}
def Plan_StageOp : StructureOp<"stage", "::vime::plan::LocalStage"> {
  let summary = "a stage that the rank holds; actions name it by its place among them";
  let hasVerifier = 0; // judged with the plan
}
def Plan_LoopOp : StructureRegionOp<"loop", "::vime::ir::LoopHead"> {
  let summary = "actions that run `trips` times, each iteration `period` later";
}
def Plan_CaseOp : StructureRegionOp<"case", "::vime::ir::CaseHead"> {
  let summary = "actions that run only where a condition holds";
}
def Plan_LayoutOp : StructureRegionOp<"layout", "::vime::ir::LayoutHead"> {
  let summary = "the buffers of a rank and the bytes of its arenas";
}
def Plan_BufferOp : StructureOp<"buffer", "::vime::plan::Buffer"> {
  let summary = "slots of equal size; actions name it by its place in the layout";
}
