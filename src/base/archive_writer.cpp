#include <fmt/format.h>
#include <zip.h>

#include <memory>

#include "base/archive.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::base {
namespace {

// 1980-01-01 00:00, the first time that a zip archive can store.
constexpr zip_uint16_t kFirstDate = (1U << 5U) | 1U;

[[noreturn]] void fail_writing(const std::filesystem::path& archive, const std::string& why) {
  throw Error(ErrorCode::FileFailed, {FactCode::FileFailed, {archive.string()}, {{"what", "write"}, {"why", why}}},
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Check the path and its permissions"});
}

void add(zip_t* zip, const ArchiveSource& entry, const std::filesystem::path& archive) {
  zip_source_t* source = entry.file.empty() ? zip_source_buffer(zip, entry.text.data(), entry.text.size(), 0)
                                            : zip_source_file(zip, entry.file.c_str(), 0, -1);
  if (source == nullptr) fail_writing(archive, zip_strerror(zip));
  const zip_int64_t index = zip_file_add(zip, entry.name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    fail_writing(archive, zip_strerror(zip));
  }
  const auto at = static_cast<zip_uint64_t>(index);
  zip_file_set_dostime(zip, at, 0, kFirstDate, 0);
  zip_file_set_external_attributes(zip, at, 0, ZIP_OPSYS_UNIX, 0100644U << 16U);
}

}  // namespace

void write_archive(const std::filesystem::path& archive, const std::vector<ArchiveSource>& sources) {
  const auto discard = [](zip_t* zip) { zip_discard(zip); };
  int code = 0;
  std::unique_ptr<zip_t, decltype(discard)> zip(zip_open(archive.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code), discard);
  if (!zip) fail_writing(archive, fmt::format("libzip error {}", code));
  for (const auto& source : sources) add(zip.get(), source, archive);
  if (zip_close(zip.get()) != 0) fail_writing(archive, zip_strerror(zip.get()));
  (void)zip.release();  // freed by zip_close
}

}  // namespace entrain::base
