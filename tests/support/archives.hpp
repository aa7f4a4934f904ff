#pragma once

#include <sys/stat.h>
#include <zip.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace entrain::test {

struct ArchiveEntry {
  std::string name;  ///< a '/' at the end makes a folder
  std::string content;
  unsigned mode = S_IFREG | 0644;
  bool encrypted = false;
};

inline void write_archive(const std::filesystem::path& file, const std::vector<ArchiveEntry>& entries) {
  int code = 0;
  zip_t* zip = zip_open(file.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (zip == nullptr) throw std::runtime_error("cannot make " + file.string());
  for (const auto& entry : entries) {
    zip_source_t* source = zip_source_buffer(zip, entry.content.data(), entry.content.size(), 0);
    const zip_int64_t index = zip_file_add(zip, entry.name.c_str(), source, ZIP_FL_ENC_RAW);
    if (index < 0) throw std::runtime_error("cannot add " + entry.name);
    const auto at = static_cast<zip_uint64_t>(index);
    zip_file_set_mtime(zip, at, 315'532'800, 0);  // 1980: the same content gives the same file
    zip_file_set_external_attributes(zip, at, 0, ZIP_OPSYS_UNIX, static_cast<zip_uint32_t>(entry.mode) << 16U);
    if (entry.encrypted) zip_file_set_encryption(zip, at, ZIP_EM_AES_128, "secret");
  }
  if (zip_close(zip) != 0) throw std::runtime_error("cannot write " + file.string());
}

}  // namespace entrain::test
