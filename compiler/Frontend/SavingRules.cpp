// checkSaving: J over `checkpoint`: its values belong together.
#include "compiler/Frontend/Draft.h"
#include "compiler/Frontend/Rules.h"

namespace vime {

void checkSaving(Draft &draft) {
  if (!draft.isStated("checkpoint") || draft.isSpoiled("checkpoint"))
    return;
  for (const char *path : {"checkpoint.dir", "checkpoint.every"}) {
    if (draft.isKnown(path) || draft.isSpoiled(path))
      continue;
    const FieldSpec &field = *findField(path);
    draft
        .error(JobCode::MissingKey, code(path) + " is missing", draft.keySpan("checkpoint"),
               "lacks " + code(field.key()))
        .note(code(path) + " says: " + std::string(field.sentence));
  }
}

} // namespace vime
