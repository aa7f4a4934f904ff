#include "entrain/entrain.hpp"

#include "description/system_file.hpp"
#include "facade/prepare.hpp"

namespace entrain {

namespace {

/// Reading and everything that can be said without running. A file that could not be parsed at all says just that.
SystemDescription read_and_check(const std::filesystem::path& path, bool always_check, std::vector<Problem>& problems) {
  auto description = read_system(find_system_file(path), problems);
  const bool wrong = has_errors(problems);
  if (wrong ? !description.subsystems.empty() : always_check) prepare(description, 1, {}, problems);
  return description;
}

}  // namespace

SystemDescription load(const std::filesystem::path& path) {
  std::vector<Problem> problems;
  auto description = read_and_check(path, false, problems);
  if (has_errors(problems)) throw Error(std::move(problems));
  return description;
}

std::vector<Problem> check(const std::filesystem::path& path) {
  std::vector<Problem> problems;
  read_and_check(path, true, problems);
  return problems;
}

std::string_view version() noexcept {
  return ENTRAIN_VERSION;
}

}  // namespace entrain
