#include "description/ssp_library.hpp"

#include <fmt/format.h>

#include "base/archive.hpp"
#include "base/text_file.hpp"
#include "description/ssp_file.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::description {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultDocument = "SystemStructure.ssd";

/// Parsing XML takes many times the size of the text.
constexpr base::TextFileKind kSspText{"a file of SSP", "Name a file of SSP", std::uintmax_t{64} << 20U};

void require_inside(const fs::path& archive, const fs::path& target, const std::string& uri, std::string_view kind) {
  const fs::path inside = target.lexically_relative(archive);
  if (!inside.empty() && *inside.begin() != "..") return;
  throw Error(ErrorCode::InvalidSystem, {FactCode::SourceLeadsOut, {uri}, {{"kind", kind}}},
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = fmt::format("Put the file into the {}", kind)});
}

}  // namespace

const SspFile* SspLibrary::open(const fs::path& file, const std::string& variant) {
  const bool is_package = file.extension() != ".ssd";
  const fs::path document = is_package ? file / (variant.empty() ? kDefaultDocument : variant) : file;
  const auto [known, is_new] = known_.insert({document.lexically_normal().string(), nullptr});
  if (!is_new) return known->second;
  const fs::path base = is_package ? file : file.parent_path();
  auto parsed = parse_ssd(text(document), document.string(), problems_);
  if (!parsed) return nullptr;
  const bool in_package = base::outermost_file(document) != document;
  files_.push_back({document, base, in_package, std::move(*parsed)});
  known->second = &files_.back();
  return known->second;
}

fs::path SspLibrary::resolved(const SspFile& from, const std::string& uri, std::string& fragment) {
  const fs::path path = path_of_uri(uri, fragment);
  const fs::path target = (from.base / path).lexically_normal();
  if (from.in_package) require_inside(base::outermost_file(from.path), target, uri, "package");
  return target;
}

fs::path SspLibrary::inside_fmu(const fs::path& fmu, const std::string& uri) {
  std::string fragment;
  const fs::path target = (fmu / path_of_uri(uri, fragment)).lexically_normal();
  require_inside(fmu.lexically_normal(), target, uri, "FMU");
  return target;
}

std::string SspLibrary::text(const fs::path& file) {
  return base::read_text_file(base::LocatedFile(file).path(), kSspText);
}

}  // namespace entrain::description
