// The pipeline orders, one file each. The shape must have passed `check` (Registry.h).
#pragma once

#include "schedules/Schedule.h"

namespace vime {

Schedule gpipe(ScheduleShape shape);        // GPipe.cpp
Schedule oneFOneB(ScheduleShape shape);     // OneFOneB.cpp
Schedule interleaved(ScheduleShape shape);  // Interleaved.cpp
Schedule zeroBubbleH1(ScheduleShape shape); // ZeroBubbleH1.cpp
Schedule zeroBubbleV(ScheduleShape shape);  // ZeroBubbleV.cpp

/// Interleaved 1F1B runs its microbatches in this many rounds, and all rounds are of one size.
int interleavedRounds(ScheduleShape shape);

} // namespace vime
