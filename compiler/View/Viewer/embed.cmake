# Writes the files of the viewer (page, style, scripts) as strings of a source file.
list(POP_FRONT FILES page style)
file(READ ${page} page_text)
file(READ ${style} style_text)
set(script_text "")
foreach(script IN LISTS FILES)
  file(READ ${script} text)
  string(APPEND script_text "${text}")
endforeach()
file(WRITE ${OUTPUT} "// Made from compiler/View/Viewer.
#include \"compiler/View/ViewerFiles.h\"

namespace vime::viewer {
std::string_view page() { return R\"viewer(${page_text})viewer\"; }
std::string_view style() { return R\"viewer(${style_text})viewer\"; }
std::string_view script() { return R\"viewer(${script_text})viewer\"; }
} // namespace vime::viewer
")
