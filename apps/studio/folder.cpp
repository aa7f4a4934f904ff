#include "studio/folder.hpp"

#include <algorithm>

namespace entrain::studio {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 200;
constexpr std::size_t kMostFiles = 2000;
constexpr int kDeepest = 3;

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

}  // namespace

Folder::Folder(const fs::path& path) : path_(fs::canonical(path)) {
  if (!fs::is_directory(path_))
    throw fs::filesystem_error("no folder", path_, std::make_error_code(std::errc::not_a_directory));
}

std::optional<fs::path> Folder::inside(std::string_view name) const {
  if (name.empty() || name.size() > 4096 || has_control_character(name)) return std::nullopt;
  const fs::path relative(name);
  if (relative.is_absolute()) return std::nullopt;
  if (std::any_of(relative.begin(), relative.end(), [](const fs::path& part) { return part == ".."; }))
    return std::nullopt;
  std::error_code error;
  auto found = fs::weakly_canonical(path_ / relative, error);
  if (error) return std::nullopt;
  // A link to nothing is not followed by weakly_canonical: a file made there would lie where it points.
  for (fs::path step = path_ / relative; step != path_ && step.has_relative_path(); step = step.parent_path()) {
    if (fs::is_symlink(fs::symlink_status(step, error)) && !fs::exists(step, error)) return std::nullopt;
  }
  const auto [own, other] = std::mismatch(path_.begin(), path_.end(), found.begin(), found.end());
  if (own != path_.end()) return std::nullopt;
  return found;
}

std::vector<std::string> Folder::files(const std::vector<std::string>& endings) const {
  std::vector<std::string> names;
  std::error_code error;
  fs::recursive_directory_iterator entry(path_, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator() && names.size() < kMostFiles; entry.increment(error)) {
    const auto name = entry->path().filename().string();
    const bool is_run = fs::exists(entry->path() / "run.json", error);
    if (entry->is_directory(error) && (name.starts_with('.') || is_run || entry.depth() + 1 >= kDeepest))
      entry.disable_recursion_pending();
    const auto ending = entry->path().extension().string();
    if (std::find(endings.begin(), endings.end(), ending) == endings.end() || !entry->is_regular_file(error)) continue;
    names.push_back(entry->path().lexically_relative(path_).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool is_file_name(std::string_view name) {
  if (name.empty() || name.size() > kLongestName || name.front() == '.' || name.front() == '-') return false;
  return !has_control_character(name) && name.find_first_of("/\\") == std::string_view::npos;
}

}  // namespace entrain::studio
