// Build-time program: packs the description and the library of an FMU into an archive.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "base/archive.hpp"

namespace {

void pack(const std::string& version, const std::filesystem::path& description, const std::filesystem::path& library,
          const std::filesystem::path& fmu) {
  const std::string platform = version == "3" ? "x86_64-linux" : "linux64";
  entrain::base::write_archive(fmu,
                               {{"modelDescription.xml", {}, description},
                                {fmt::format("binaries/{}/{}", platform, library.filename().string()), {}, library}});
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) {
    fmt::print(stderr, "usage: {} VERSION DESCRIPTION LIBRARY FMU\n", arguments[0]);
    return 2;
  }
  try {
    pack(arguments[1], arguments[2], arguments[3], arguments[4]);
  } catch (const std::exception& exception) {
    fmt::print(stderr, "{}: {}\n", arguments[4], exception.what());
    return 1;
  }
  return 0;
}
