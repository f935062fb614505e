// Record ops: an op whose whole content is one plain struct, kept inline as its property.
//
// The struct says once which fields it has (`visitFields`, RecordFields.h); text, attributes and hash follow from that.
#ifndef VIME_RECORD_TD
#define VIME_RECORD_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/Properties.td"
include "mlir/IR/RegionKindInterface.td"

class RecordProperty<string type> : Property<type> {
  let convertToAttribute = [{ ::vime::ir::toAttribute($_ctxt, $_storage) }];
  let convertFromAttribute = [{ return ::vime::ir::fromAttribute($_storage, $_attr, $_diag); }];
  let hashProperty = [{ ::vime::ir::hashOf($_storage) }];
  let writeToMlirBytecode = [{ $_writer.writeAttribute(::vime::ir::toAttribute($_ctxt, $_storage)); }];
  let readFromMlirBytecode = [{
    ::mlir::Attribute attribute;
    if (::mlir::failed($_reader.readAttribute(attribute)))
      return ::mlir::failure();
    if (::mlir::failed(::vime::ir::fromAttribute($_storage, attribute, nullptr)))
      return ::mlir::failure();
  }];
}

class RecordOpBase<Dialect dialect, string mnemonic, string type, list<Trait> traits>
    : Op<dialect, mnemonic, traits> {
  string recordType = type;
  let arguments = (ins RecordProperty<type>:$record);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
}

// `plan.lane send flow forward …`
class RecordOp<Dialect dialect, string mnemonic, string type, list<Trait> traits = []>
    : RecordOpBase<dialect, mnemonic, type, traits> {
  let builders = [OpBuilder<(ins "const " # type # " &":$record), [{
    $_state.getOrAddProperties<Properties>().record = record;
  }]>];
  let extraClassDeclaration = type # [{ &record() { return getProperties().record; } }];
  let extraClassDefinition = [{
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser, ::mlir::OperationState &state) {
      return ::vime::ir::parseRecord(parser, state, state.getOrAddProperties<Properties>().record);
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) { ::vime::ir::printRecord(printer, *this, record()); }
  }];
}

// The same with a body: `plan.loop id 0 … { … }`
class RecordRegionOp<Dialect dialect, string mnemonic, string type, list<Trait> traits = []>
    : RecordOpBase<dialect, mnemonic, type,
                   !listconcat(traits, [NoTerminator, SingleBlock, NoRegionArguments, IsolatedFromAbove])> {
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "const " # type # " &":$record), [{
    $_state.getOrAddProperties<Properties>().record = record;
    $_state.addRegion()->emplaceBlock();
  }]>];
  let extraClassDeclaration = type # [{ &record() { return getProperties().record; }
    ::mlir::Block &block() { return getBody().front(); }
  }];
  let extraClassDefinition = [{
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser, ::mlir::OperationState &state) {
      return ::vime::ir::parseRecordWithBody(parser, state, state.getOrAddProperties<Properties>().record);
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) {
      ::vime::ir::printRecordWithBody(printer, *this, record());
    }
  }];
}

#endif
