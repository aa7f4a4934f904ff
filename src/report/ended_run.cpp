#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/quoting.hpp"
#include "base/replace_file.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/report.hpp"
#include "report/json_parts.hpp"

namespace entrain {
namespace {

using EndedJson = nlohmann::ordered_json;

bool is_termination(const EndedJson& json, Termination wanted) {
  return json.value("termination", "") == to_string(wanted);
}

bool has_warning(const EndedJson& json, FactCode code) {
  const auto warnings = json.value("warnings", EndedJson::array());
  return std::any_of(warnings.begin(), warnings.end(),
                     [&](const EndedJson& warning) { return warning.value("code", "") == name_of(code); });
}

}  // namespace

bool complete_run_json(const std::filesystem::path& run_directory, const Error& error) noexcept {
  try {
    const auto file = run_directory / "run.json";
    auto json = EndedJson::parse(std::ifstream(file));
    if (is_termination(json, Termination::Running)) {
      json["termination"] = to_string(Termination::Failed);
      json["message"] = error.what();
      json["failure"] = reporting::json_of(error);
    } else if (is_termination(json, Termination::Completed) && !has_warning(json, FactCode::FmuEndFailed)) {
      json["warnings"].push_back(reporting::json_of(base::quoting({FactCode::FmuEndFailed}, error, error.what())));
    } else {
      return false;
    }
    base::replace_file(file, reporting::json_text(json));
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace entrain
