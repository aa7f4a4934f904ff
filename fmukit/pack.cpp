// Build-time program, one per FMU: packs the description of the FMU it was built for and its library into an archive.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "base/archive.hpp"
#include "fmukit/describe.hpp"

namespace {

using namespace entrain::fmukit;

void pack(int version, const std::filesystem::path& library, const std::filesystem::path& fmu) {
  const std::string platform = version == 3 ? "x86_64-linux" : "linux64";
  entrain::base::write_archive(
      fmu, {{"modelDescription.xml", describe(fmu_definition(), version).xml, {}},
            {fmt::format("binaries/{}/{}.so", platform, fmu_definition().identifier), {}, library}});
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    fmt::print(stderr, "usage: {} VERSION LIBRARY FMU\n", arguments[0]);
    return 2;
  }
  try {
    pack(std::stoi(arguments[1]), arguments[2], arguments[3]);
  } catch (const std::exception& exception) {
    fmt::print(stderr, "{}: {}\n", arguments[3], exception.what());
    return 1;
  }
  return 0;
}
