#include "runtime/Plan/PartReader.h"

#include <algorithm>

#include "runtime/Plan/DecodeParts.h"

namespace vime::plan {
namespace {

Status refuse(std::string sentence) {
  return Status(StatusCode::Unacceptable, std::move(sentence));
}

std::string versions(std::string_view what, std::uint32_t found, std::uint32_t known) {
  return "the plan has " + std::string(what) + " version " + std::to_string(found) +
         ", this program reads version " + std::to_string(known);
}

bool isKnown(std::uint32_t kind) {
  return kind >= static_cast<std::uint32_t>(file::PartKind::MIN) &&
         kind <= static_cast<std::uint32_t>(file::PartKind::MAX);
}

/// A name from the file, fit for a terminal.
std::string printable(std::string_view name) {
  std::string text(name.substr(0, 40));
  std::replace_if(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

} // namespace

Status PartReader::open() {
  if (Status status =
          source.read(0, &preamble, std::min<std::uint64_t>(source.size(), sizeof preamble));
      !status.ok())
    return status;
  if (Status status = checkPreamble(); !status.ok())
    return status;
  headerBytes.resize(preamble.headerLength);
  if (Status status = source.read(preamble.headerOffset, headerBytes.data(), headerBytes.size());
      !status.ok())
    return status;
  const std::string_view bytes(headerBytes.data(), headerBytes.size());
  if (hashOf(bytes) != preamble.headerHash)
    return refuse("the plan is damaged: the hash of its header is wrong");
  header = decodeHeader(bytes);
  if (!header)
    return refuse("the plan is damaged: its header cannot be read");
  if (header->format() != kFormatVersion)
    return refuse(versions("format", header->format(), kFormatVersion));
  if (Status status = checkFamilies(); !status.ok())
    return status;
  return checkDirectory();
}

Status PartReader::checkPreamble() const {
  const std::string_view magic(preamble.magic, sizeof preamble.magic);
  if (source.size() < magic.size() || magic != "VIME")
    return refuse("this is not a plan: it does not begin with `VIME`\n"
                  "help: a job becomes a plan by `vimec job.yaml -o plan.bin`");
  if (source.size() < sizeof preamble)
    return refuse("the plan is cut off: it has " + std::to_string(source.size()) +
                  " bytes, fewer than its preamble");
  if (preamble.container != kContainerVersion)
    return refuse(versions("container", preamble.container, kContainerVersion));
  if (preamble.fileLength != source.size())
    return refuse("the plan is cut off or damaged: it has " + std::to_string(source.size()) +
                  " bytes and says " + std::to_string(preamble.fileLength));
  if (preamble.headerOffset != sizeof preamble || preamble.headerLength > kMostHeaderBytes ||
      sizeof preamble + preamble.headerLength > source.size())
    return refuse("the plan is damaged: its header lies outside of it");
  return Status();
}

Status PartReader::checkFamilies() const {
  std::uint32_t last = 0;
  for (const file::Family *family : *header->families()) {
    const std::uint32_t code = family->code();
    if (code <= last)
      return refuse("the plan is damaged: its opcode families are not in order");
    last = code;
    const bool known = code <= static_cast<std::uint32_t>(Family::Rollout) &&
                       family->name()->string_view() == nameOf(static_cast<Family>(code));
    if (!known)
      return refuse("the plan uses the opcode family `" + printable(family->name()->string_view()) +
                    "`, which this program does not know");
    if (family->version() != kFamilyVersion)
      return refuse(
          versions("`" + family->name()->str() + "` family", family->version(), kFamilyVersion));
  }
  return Status();
}

Status PartReader::checkDirectory() const {
  std::uint64_t end = sizeof preamble + preamble.headerLength;
  if (Status status = checkZeros(end); !status.ok())
    return status;
  const file::Part *last = nullptr;
  for (const file::Part *part : *header->parts()) {
    if (Status status = checkPart(*part, alignPart(end)); !status.ok())
      return status;
    if (last && std::pair(last->kind(), last->index()) >= std::pair(part->kind(), part->index()))
      return refuse("the plan is damaged: its parts are not in order");
    last = part;
    end = part->offset() + part->length();
  }
  if (alignPart(end) != source.size())
    return refuse("the plan is damaged: its parts do not fill it");
  std::vector<file::Part> directory;
  for (const file::Part *part : *header->parts())
    directory.push_back(*part);
  if (planIdOf(directory) != preamble.planId)
    return refuse("the plan is damaged: its id is not that of its parts");
  const file::Part *job = find(file::PartKind::Job, 0);
  if (!job || job->hash().low() != header->job()->low() ||
      job->hash().high() != header->job()->high())
    return refuse("the plan is damaged: it is not made from the job that it holds");
  return Status();
}

Status PartReader::checkPart(const file::Part &part, std::uint64_t expectedOffset) const {
  const std::string name = partName(part.kind(), part.index());
  const bool known = isKnown(part.kind());
  if (part.required() > 1 || part.reserved() != 0 || part.offset() != expectedOffset ||
      part.offset() > source.size() || part.length() > source.size() - part.offset())
    return refuse("the plan is damaged: part `" + name + "` lies outside of it");
  if (!known && part.required())
    return refuse("the plan has a part of " + name + ", which this program does not know");
  if (known && part.required() != isRequired(static_cast<file::PartKind>(part.kind())))
    return refuse("the plan is damaged: part `" + name + "` is not marked as it must be");
  return Status();
}

/// From there to the next part.
Status PartReader::checkZeros(std::uint64_t begin) const {
  char bytes[kPartAlignment];
  const std::uint64_t count = alignPart(begin) - begin;
  if (count > source.size() - begin)
    return refuse("the plan is cut off inside its last part");
  if (Status status = source.read(begin, bytes, count); !status.ok())
    return status;
  if (!std::all_of(bytes, bytes + count, [](char byte) { return byte == 0; }))
    return refuse("the plan is damaged: there is something between its parts");
  return Status();
}

Status PartReader::readInto(const file::Part &part, void *to) const {
  if (Status status = source.read(part.offset(), to, part.length()); !status.ok())
    return status;
  const std::string_view bytes(static_cast<const char *>(to), part.length());
  if (hashOf(bytes) != Hash128{part.hash().low(), part.hash().high()})
    return refuse("the plan is damaged: the hash of part `" + partName(part.kind(), part.index()) +
                  "` is wrong");
  return checkZeros(part.offset() + part.length());
}

const file::Part *PartReader::find(file::PartKind kind, std::uint32_t index) const {
  const auto wanted = std::pair(static_cast<std::uint32_t>(kind), index);
  const auto *parts = header->parts();
  std::uint32_t low = 0;
  for (std::uint32_t count = parts->size(); count != 0;) {
    const std::uint32_t half = count / 2;
    const file::Part &middle = *parts->Get(low + half);
    if (std::pair(middle.kind(), middle.index()) < wanted) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  const file::Part *found = low < parts->size() ? parts->Get(low) : nullptr;
  return found && std::pair(found->kind(), found->index()) == wanted ? found : nullptr;
}

Status PartReader::missing(file::PartKind kind, std::uint32_t index,
                           const file::Part *found) const {
  const std::string name = partName(static_cast<std::uint32_t>(kind), index);
  return refuse(found ? "the plan is damaged: part `" + name + "` does not hold whole elements"
                      : "the plan is damaged: it has no part `" + name + "`");
}

StatusOr<std::string_view> PartReader::read(file::PartKind kind, std::uint32_t index) {
  if (Status status = read(kind, index, scratch); !status.ok())
    return status;
  return std::string_view(scratch.data(), scratch.size());
}

std::uint32_t PartReader::countOf(file::PartKind kind) const {
  return static_cast<std::uint32_t>(
      std::count_if(header->parts()->begin(), header->parts()->end(), [=](const file::Part *part) {
        return part->kind() == static_cast<std::uint32_t>(kind);
      }));
}

Status PartReader::checkUnknownParts() const {
  std::vector<char> bytes;
  for (const file::Part *part : *header->parts())
    if (!isKnown(part->kind())) {
      bytes.resize(part->length());
      if (Status status = readInto(*part, bytes.data()); !status.ok())
        return status;
    }
  return Status();
}

Status PartReader::checkCounts(const Plan &plan) const {
  using enum file::PartKind;
  const std::size_t programs = plan.programs.size(), layouts = plan.layouts.size();
  const std::pair<file::PartKind, std::size_t> expected[] = {{Job, 1},
                                                             {Common, 1},
                                                             {Program, programs},
                                                             {Actions, programs},
                                                             {Operands, programs},
                                                             {Layout, layouts},
                                                             {Tensors, 1},
                                                             {Connect, 1},
                                                             {Predictions, 1},
                                                             {Origins, has(Origins) ? 1 : 0}};
  // Parts are in order, so that as many as expected and the last one present means all of them.
  for (const auto &[kind, count] : expected)
    if (countOf(kind) != count ||
        (count != 0 && !find(kind, static_cast<std::uint32_t>(count - 1))))
      return refuse("the plan is damaged: the number of its parts of the kind `" +
                    partName(static_cast<std::uint32_t>(kind), 0) + "` is not " +
                    std::to_string(count));
  return Status();
}

std::uint32_t PartReader::families() const {
  std::uint32_t listed = 0;
  for (const file::Family *family : *header->families())
    listed |= 1u << family->code();
  return listed;
}

} // namespace vime::plan
