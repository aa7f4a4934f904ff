#include "description/ssp_library.hpp"

#include <fmt/format.h>

#include "base/archive.hpp"
#include "base/text_file.hpp"
#include "description/ssp_file.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultDocument = "SystemStructure.ssd";

/// Parsing XML takes many times the size of the text.
constexpr TextFileKind kSspText{"a file of SSP", "Name a file of SSP", std::uintmax_t{64} << 20U};

}  // namespace

const SspFile* SspLibrary::open(const fs::path& file, const std::string& variant) {
  const bool is_package = file.extension() != ".ssd";
  const fs::path document = is_package ? file / (variant.empty() ? kDefaultDocument : variant) : file;
  const auto [known, is_new] = known_.insert({document.lexically_normal().string(), nullptr});
  if (!is_new) return known->second;
  const fs::path base = is_package ? file : file.parent_path();
  auto parsed = parse_ssd(text(document), document.string(), problems_);
  if (!parsed) return nullptr;
  const bool in_package = outermost_file(document) != document;
  files_.push_back({document, base, in_package, std::move(*parsed)});
  known->second = &files_.back();
  return known->second;
}

fs::path SspLibrary::resolved(const SspFile& from, const std::string& uri, std::string& fragment) {
  const fs::path path = path_of_uri(uri, fragment);
  const fs::path target = (from.base / path).lexically_normal();
  if (!from.in_package || path.is_absolute()) return target;
  const fs::path inside = target.lexically_relative(outermost_file(from.path));
  if (!inside.empty() && *inside.begin() != "..") return target;
  throw Error(ErrorCode::InvalidSystem, fmt::format("the source '{}' leads out of the package", uri),
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Put the file into the package"});
}

std::string SspLibrary::text(const fs::path& file) {
  return read_text_file(LocatedFile(file).path(), kSspText);
}

}  // namespace entrain
