// Build-time program, one per FMU: packs the description of the FMU it was built for and its library into an archive.
// The same input gives the same bytes: fixed order, fixed time stamps.
#include <fmt/format.h>
#include <zip.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "fmukit/describe.hpp"

namespace {

using namespace entrain::fmukit;

// 1980-01-01 00:00, the first time a zip archive can tell.
constexpr zip_uint16_t kFirstDate = (1 << 5) | 1;

void add(zip_t* archive, const std::string& name, zip_source_t* source) {
  if (source == nullptr) throw std::runtime_error(zip_strerror(archive));
  const zip_int64_t index = zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    throw std::runtime_error(zip_strerror(archive));
  }
  const auto entry = static_cast<zip_uint64_t>(index);
  zip_file_set_dostime(archive, entry, 0, kFirstDate, 0);
  zip_file_set_external_attributes(archive, entry, 0, ZIP_OPSYS_UNIX, 0100644U << 16);
}

void pack(int version, const std::filesystem::path& library, const std::filesystem::path& fmu) {
  const Description description = describe(fmu_definition(), version);
  std::filesystem::remove(fmu);
  int error = 0;
  const auto discard = [](zip_t* archive) { zip_discard(archive); };
  std::unique_ptr<zip_t, decltype(discard)> archive(zip_open(fmu.c_str(), ZIP_CREATE, &error), discard);
  if (!archive) throw std::runtime_error(fmt::format("cannot be created (libzip error {})", error));
  const char* platform = version == 2 ? "linux64" : "x86_64-linux";
  add(archive.get(), "modelDescription.xml",
      zip_source_buffer(archive.get(), description.xml.data(), description.xml.size(), 0));
  add(archive.get(), fmt::format("binaries/{}/{}.so", platform, fmu_definition().identifier),
      zip_source_file(archive.get(), library.c_str(), 0, 0));
  if (zip_close(archive.get()) != 0) throw std::runtime_error(zip_strerror(archive.get()));
  (void)archive.release();  // freed by zip_close
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    fmt::print(stderr, "usage: {} VERSION LIBRARY FMU\n", arguments[0]);
    return 2;
  }
  try {
    pack(std::string(arguments[1]) == "2" ? 2 : 3, arguments[2], arguments[3]);
  } catch (const std::exception& exception) {
    fmt::print(stderr, "{}: {}\n", arguments[3], exception.what());
    return 1;
  }
  return 0;
}
