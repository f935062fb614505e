// SvgView: a timeline as a drawing for papers: the tasks of each rank, an axis, a legend.
#pragma once

#include <span>
#include <string>

#include "compiler/View/Timeline.h"

namespace vime {

/// Several stand one above the other on one axis. `width` in pixels.
std::string svgView(std::span<const Timeline> timelines, int width = 1000);

} // namespace vime
