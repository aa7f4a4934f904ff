# PAGE -> SOURCE: the bytes of a file behind entrain::ROOM::page_template(), which HEADER declares.
file(READ ${PAGE} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
string(REGEX REPLACE "(('....',)('....',)('....',)('....',)('....',)('....',)('....',)('....',))" "\\1\n" bytes "${bytes}")
file(WRITE ${SOURCE} "// Written by cmake/embed_page.cmake.
#include \"${HEADER}\"

namespace {
constexpr char kPage[] = {${bytes}'\\0'};
}

std::string_view entrain::${ROOM}::page_template() noexcept {
  return {kPage, sizeof kPage - 1};
}
")
