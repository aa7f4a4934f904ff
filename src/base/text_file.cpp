#include "base/text_file.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
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

std::string read_text_file(const fs::path& path, const TextFileKind& kind) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    fail_reading({FactCode::NoSuchFile, {path.string()}}, "Check its name and its folder");
  if (error) fail_to_read(path, error);
  if (!fs::is_regular_file(status)) fail_reading({FactCode::NotRegularFile, {path.string()}}, kind.remedy);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) fail_to_read(path, {errno, std::generic_category()});
  const auto size = fs::file_size(path, error);
  if (error) fail_to_read(path, error);
  if (size > kind.most_bytes)
    fail_reading({FactCode::FileTooLarge,
                  {path.string()},
                  {{"size", size >> 20U}, {"limit", kind.most_bytes >> 20U}, {"kind", kind.name}}},
                 kind.remedy);
  std::string text(size, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) fail_to_read(path, {errno, std::generic_category()});
  return text;
}

}  // namespace entrain::base
