// HtmlView: timelines as one page that needs no server, no network and no other file.
#pragma once

#include <span>
#include <string>

#include "compiler/View/Timeline.h"

namespace vime {

/// Several timelines stand one above the other, on one axis, with a table of what differs.
std::string htmlView(std::span<const Timeline> timelines);

} // namespace vime
