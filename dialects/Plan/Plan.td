// The `plan` dialect: programs, one op per action, and everything beside them. No SSA: actions name buffers by index.
//
// The root of what TableGen reads; ops stand in the files by family. Op names of actions are those of the table in
// runtime/Plan/Opcode.cpp.
#ifndef VIME_PLAN_TD
#define VIME_PLAN_TD

include "dialects/Record/Record.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::vime::ir";
  let summary = "one program per rank, its buffers, and what the runtime reads beside them";
}

// Marks the ops that are actions, for whoever walks a program.
def Plan_IsAction : NativeOpTrait<"IsAction"> { let cppNamespace = "::vime::ir"; }

// `plan.forward stage 1 microbatch 3 lane 0 time 12 waits [3:1, 5:2] uses [0, 1, 7, 9, 14, _, 20]`; `judge` is the
// function that knows the family.
class ActionOp<string mnemonic, string judge> : RecordOpBase<Plan_Dialect, mnemonic, "::vime::ir::ActionRecord",
                                                             [Plan_IsAction]> {
  let builders = [OpBuilder<(ins "const ::vime::ir::ActionRecord &":$record), [{
    $_state.getOrAddProperties<Properties>().record = record;
  }]>];
  let extraClassDeclaration = [{ ::vime::ir::ActionRecord &record() { return getProperties().record; } }];
  let extraClassDefinition = [{
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser, ::mlir::OperationState &state) {
      return ::vime::ir::parseAction(parser, state, state.getOrAddProperties<Properties>().record);
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) { ::vime::ir::printRecord(printer, *this, record()); }
    ::mlir::LogicalResult $cppClass::verify() { return ::vime::ir::}] # judge # [{(*this, record()); }
  }];
}

include "dialects/Plan/PlanStructure.td"
include "dialects/Plan/PlanSettings.td"
include "dialects/Plan/PlanCompute.td"
include "dialects/Plan/PlanTransfer.td"
include "dialects/Plan/PlanCollective.td"
include "dialects/Plan/PlanMove.td"
include "dialects/Plan/PlanUpdate.td"
include "dialects/Plan/PlanHost.td"
include "dialects/Plan/PlanControl.td"
include "dialects/Plan/PlanRollout.td"

#endif
