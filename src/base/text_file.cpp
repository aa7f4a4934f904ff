#include "base/text_file.hpp"

#include <sys/types.h>

#include <cerrno>
#include <system_error>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::base {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_reading(Fact fact, std::string_view remedy) {
  throw Error(ErrorCode::FileFailed, std::move(fact),
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = std::string(remedy)});
}

[[noreturn]] void fail_to_read(const fs::path& path, const std::error_code& reason) {
  fail_reading({FactCode::FileFailed, {path.string()}, {{"what", "read"}, {"why", reason.message()}}},
               "Check the path and its permissions");
}

}  // namespace

RegularFile::RegularFile(const fs::path& path, std::string_view remedy) : path_(path), file_(nullptr, std::fclose) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    fail_reading({FactCode::NoSuchFile, {path.string()}}, "Check its name and its folder");
  if (error) fail_to_read(path, error);
  if (!fs::is_regular_file(status)) fail_reading({FactCode::NotRegularFile, {path.string()}}, remedy);
  file_.reset(std::fopen(path.c_str(), "rb"));
  if (file_ == nullptr) fail_to_read(path, {errno, std::generic_category()});
  size_ = fs::file_size(path, error);
  if (error) fail_to_read(path, error);
}

std::size_t RegularFile::read(char* to, std::size_t count) {
  const std::size_t got = std::fread(to, 1, count, file_.get());
  if (std::ferror(file_.get()) != 0) fail_to_read(path_, {errno, std::generic_category()});
  return got;
}

void RegularFile::seek(std::uintmax_t place) {
  if (::fseeko(file_.get(), static_cast<off_t>(place), SEEK_SET) != 0)
    fail_to_read(path_, {errno, std::generic_category()});
}

std::string read_text_file(const fs::path& path, const TextFileKind& kind) {
  RegularFile file(path, kind.remedy);
  if (file.size() > kind.most_bytes)
    fail_reading({FactCode::FileTooLarge,
                  {path.string()},
                  {{"size", file.size() >> 20U}, {"limit", kind.most_bytes >> 20U}, {"kind", kind.name}}},
                 kind.remedy);
  std::string text(file.size(), '\0');
  text.resize(file.read(text.data(), text.size()));
  return text;
}

}  // namespace entrain::base
