#include "base/file_error.hpp"

#include <cctype>
#include <cerrno>
#include <system_error>

#include "entrain/fact_codes.hpp"

namespace entrain::base {
namespace {

std::string remedy_for(std::string_view action, int error_number) {
  if (action == "read" && error_number == ENOENT) return "Check its name and its folder";
  switch (error_number) {
    case ENOSPC:
    case EDQUOT: return "Free some space, record fewer variables or a longer interval, or choose another folder";
    case EACCES:
    case EPERM:
    case EROFS: return "Make the folder writable or choose another one";
    case ENOTDIR:
    case EEXIST:
    case EISDIR: return "Something else has this name: choose another folder with --out";
    case ENOENT: return "Make its folder first, or name another place";
    default: return "Choose another folder";
  }
}

}  // namespace

Error file_error(std::string_view action, const std::filesystem::path& path, int error_number) {
  auto reason = std::generic_category().message(error_number);
  if (!reason.empty()) reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
  return Error(ErrorCode::FileFailed, {FactCode::FileFailed, {path.string()}, {{"what", action}, {"why", reason}}},
               {.subsystem = {}, .variable = {}, .time = std::nullopt, .remedy = remedy_for(action, error_number)});
}

}  // namespace entrain::base
