#include "compiler/View/PlanTextReader.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>

#include "compiler/View/ColumnReader.h"
#include "compiler/View/PlanColumns.h"

namespace vime {
namespace {

using namespace plan;

class TextReader {
public:
  explicit TextReader(std::string_view text) : scan(text) {}

  StatusOr<Plan> read() {
    if (!scan.nextLine())
      return Status(StatusCode::InvalidInput, "1:1: expected `plan 1`, found the end of the text");
    scan.expect("plan");
    scan.expect("1");
    scan.expectEnd();
    while (scan.nextLine())
      line();
    finishProgram();
    requireLines();
    if (scan.failed())
      return Status(StatusCode::InvalidInput, scan.failure());
    return std::move(plan);
  }

private:
  using Handler = void (TextReader::*)();
  struct Kind {
    std::string_view word;
    Handler read;
    int least, most; // how many of it a plan has
  };
  static std::span<const Kind> kinds();

  void line() {
    const std::string_view word = scan.word();
    const auto kind = std::find_if(kinds().begin(), kinds().end(),
                                   [&](const Kind &kind) { return kind.word == word; });
    if (kind == kinds().end())
      return scan.fail("no line of a plan starts with `" + std::string(word.substr(0, 60)) + "`");
    if (seen[kind->word]++ == kind->most)
      return scan.fail("a second line `" + std::string(word) + "`");
    (this->*kind->read)();
    scan.expectEnd();
  }

  void requireLines() {
    for (const Kind &kind : kinds())
      if (seen[kind.word] < kind.least)
        scan.fail("the plan has no line `" + std::string(kind.word) + "`");
  }

  /// Things count from 0, in the order of the text.
  void index(std::size_t next) { scan.expect(std::to_string(next)); }

  template <typename Record> void fill(Record &record) {
    ColumnReader visit(scan);
    columns(record, visit);
  }
  template <typename Record> Record &append(std::vector<Record> &list) {
    index(list.size());
    list.emplace_back();
    fill(list.back());
    return list.back();
  }

  void compiler() { scan.text(plan.compiler); }
  void schedule() { scan.text(plan.schedule); }
  void gradients() { ColumnReader(scan).value(plan.gradientOrder); }
  void mesh() { fill(plan.mesh); }
  void run() { fill(plan.run); }
  void data() { fill(plan.data); }
  void optimizer() { fill(plan.optimizer); }
  void checkpoint() { fill(plan.checkpoint); }
  void limits() { fill(plan.limits); }
  void predictions() { fill(plan.predictions); }
  void group() { append(plan.groups); }
  void evaluation() { fill(plan.evaluation); }
  void round() { fill(plan.round); }
  void decision() { fill(plan.decisions.emplace_back()); }
  void condition() {
    index(plan.conditions.size() + 1); // as programs name them
    fill(plan.conditions.emplace_back());
  }
  void origin() { fill(plan.origins.emplace_back()); }

  void model() {
    index(plan.models.size());
    Model &model = plan.models.emplace_back();
    fill(model.config);
    scan.expect("checkpoint");
    scan.text(model.checkpoint);
    ColumnReader visit(scan);
    visit.optional("module", model.moduleFile, false);
    visit.optional("module_hash", model.moduleHash, false);
    visit.flag("sharded", model.sharded);
  }

  void part() {
    if (plan.models.empty())
      return scan.fail("a part before its model");
    Model &model = plan.models.back();
    index(model.stages.size());
    scan.expect("of");
    scan.expect("model");
    index(plan.models.size() - 1);
    fill(model.stages.emplace_back());
  }

  void rank() {
    // Of the leading replica, then, if there are several, of all others; then of engines.
    const std::size_t place = plan.programOf.size(), pipeline = std::max(plan.mesh.pipeline, 1u);
    const std::size_t trainers = plan.mesh.trainers();
    const bool isEngine = plan.mesh.engines != 0 && place >= trainers;
    scan.expect(isEngine ? "engine" : "pp");
    index(isEngine ? place - trainers : place % pipeline);
    if (!isEngine && plan.mesh.data > 1) {
      scan.expect("dp");
      scan.expect(place < pipeline ? "0" : "1+");
    }
    ColumnReader visit(scan);
    visit("program", plan.programOf.emplace_back());
    visit("layout", plan.layoutOf.emplace_back());
  }

  void connect() {
    ConnectRound &round = plan.connect.emplace_back();
    round.inEveryReplica = scan.peek() == "in_every_replica";
    if (round.inEveryReplica)
      scan.word();
    round.allReplicas = scan.peek() == "all_replicas";
    if (round.allReplicas)
      scan.word();
    while (!scan.atEnd()) {
      const std::string_view pair = scan.word();
      const std::size_t dash = std::min(pair.find('-'), pair.size());
      auto &[low, high] = round.pairs.emplace_back();
      if (dash == pair.size() || !TextScanner::parse(pair.substr(0, dash), low) ||
          !TextScanner::parse(pair.substr(dash + 1), high))
        return scan.fail("expected two ranks such as `0-1`");
    }
  }

  /// The lines of the job, as they are.
  void job() {
    for (std::string_view line; scan.rawLine("| ", line);)
      plan.job.append(line).push_back('\n');
    if (std::string_view line; scan.rawLine("\\ ", line))
      plan.job.append(line);
  }

  void program() {
    finishProgram();
    index(plan.programs.size());
    current = &plan.programs.emplace_back();
  }
  /// What belongs to a program stands behind its line, and before any layout.
  bool inProgram() {
    if (!current)
      scan.fail("this belongs to a program, and none has begun");
    return current != nullptr;
  }
  void stage() {
    if (inProgram())
      append(current->stages);
  }
  void lane() {
    if (inProgram())
      append(current->lanes);
  }
  void loop() {
    if (inProgram())
      fill(current->loops.emplace_back());
  }
  void case_() {
    if (inProgram())
      append(current->cases);
  }
  void pool() {
    std::uint32_t entry = 0, buffer = 0;
    scan.number(entry);
    scan.number(buffer);
    if (inProgram())
      operandPool.push_back({entry, buffer});
  }

  void action() {
    if (!inProgram())
      return;
    Action &action = append(current->actions);
    waits(action);
    operands(action);
  }

  void waits(Action &action) {
    if (scan.peek() != "waits")
      return;
    scan.word();
    for (Wait &wait : action.waits) {
      const std::string_view next = scan.peek();
      if (next != "-" && next.find(':') == next.npos)
        return;
      scan.word();
      std::uint16_t lane = 0, distance = 0;
      const std::size_t colon = next.find(':');
      if (next == "-")
        continue;
      if (!TextScanner::parse(next.substr(0, colon), lane) || lane >= Wait::kMaxLanes ||
          !TextScanner::parse(next.substr(colon + 1), distance) || distance > Wait::kMaxDistance)
        return scan.fail("expected a wait such as `3:1`");
      wait = Wait::on(lane, distance);
    }
  }

  void operands(Action &action) {
    if (scan.peek() != "operands")
      return;
    scan.word();
    scan.number(action.operands);
    const Signature *signature = findSignature(action.opcode);
    while (!scan.atEnd() && !scan.failed()) {
      if (action.operandCount >= signature->operands.size())
        return scan.fail("`" + std::string(signature->name) + "` has no further operand");
      scan.expect(signature->operands[action.operandCount].name);
      std::uint32_t buffer = kNoBuffer;
      if (scan.peek() == "-")
        scan.word();
      else
        scan.number(buffer);
      operandPool.push_back({std::uint64_t{action.operands} + action.operandCount++, buffer});
    }
  }

  /// The pool has every entry, and where two actions name one they agree.
  void finishProgram() {
    std::sort(operandPool.begin(), operandPool.end());
    for (const auto &[entry, buffer] : operandPool) {
      const std::size_t size = current->operands.size();
      if (entry == size)
        current->operands.push_back(buffer);
      else if (entry > size)
        scan.fail("entry " + std::to_string(size) + " of the operand pool is missing");
      else if (current->operands[entry] != buffer)
        scan.fail("entry " + std::to_string(entry) + " of the operand pool has two buffers");
    }
    operandPool.clear();
  }

  void layout() {
    finishProgram();
    current = nullptr;
    index(plan.layouts.size());
    plan.layouts.emplace_back();
  }
  bool inLayout() {
    if (plan.layouts.empty())
      scan.fail("this belongs to a layout, and none has begun");
    return !plan.layouts.empty();
  }
  void arena() {
    ColumnReader visit(scan);
    if (!inLayout())
      return;
    visit("device", plan.layouts.back().arena[0]);
    visit("host", plan.layouts.back().arena[1]);
  }
  void buffer() {
    if (inLayout())
      append(plan.layouts.back().buffers);
  }

  TextScanner scan;
  Plan plan;
  Program *current = nullptr; // the program that lines belong to
  std::vector<std::pair<std::uint64_t, std::uint32_t>> operandPool; // entry and buffer
  std::map<std::string_view, int> seen;                             // lines of each kind
};

constexpr int kAny = std::numeric_limits<int>::max();

// A line for each kind of line, and how many of it a plan has.
std::span<const TextReader::Kind> TextReader::kinds() {
  static const Kind kKinds[] = {
      {"compiler", &TextReader::compiler, 1, 1},
      {"schedule", &TextReader::schedule, 1, 1},
      {"gradients", &TextReader::gradients, 0, 1},
      {"mesh", &TextReader::mesh, 1, 1},
      {"run", &TextReader::run, 1, 1},
      {"data", &TextReader::data, 1, 1},
      {"evaluation", &TextReader::evaluation, 0, 1},
      {"round", &TextReader::round, 0, 1},
      {"optimizer", &TextReader::optimizer, 1, 1},
      {"checkpoint", &TextReader::checkpoint, 0, 1},
      {"limits", &TextReader::limits, 1, 1},
      {"predictions", &TextReader::predictions, 1, 1},
      {"job", &TextReader::job, 1, 1},
      {"model", &TextReader::model, 0, kAny},
      {"part", &TextReader::part, 0, kAny},
      {"group", &TextReader::group, 0, kAny},
      {"decision", &TextReader::decision, 0, kAny},
      {"condition", &TextReader::condition, 0, kAny},
      {"rank", &TextReader::rank, 0, kAny},
      {"connect", &TextReader::connect, 0, kAny},
      {"origin", &TextReader::origin, 0, kAny},
      {"program", &TextReader::program, 0, kAny},
      {"stage", &TextReader::stage, 0, kAny},
      {"lane", &TextReader::lane, 0, kAny},
      {"loop", &TextReader::loop, 0, kAny},
      {"case", &TextReader::case_, 0, kAny},
      {"pool", &TextReader::pool, 0, kAny},
      {"action", &TextReader::action, 0, kAny},
      {"layout", &TextReader::layout, 0, kAny},
      {"arena", &TextReader::arena, 0, kAny},
      {"buffer", &TextReader::buffer, 0, kAny},
  };
  return kKinds;
}

} // namespace

StatusOr<Plan> parsePlanText(std::string_view text) { return TextReader(text).read(); }

} // namespace vime
