#include <nlohmann/json.hpp>

#include "entrain/verification.hpp"
#include "report/json_parts.hpp"

namespace entrain {

std::string_view to_string(OutputVerdict verdict) {
  switch (verdict) {
    case OutputVerdict::Converging: return "converging";
    case OutputVerdict::AtRounding: return "at rounding";
    case OutputVerdict::Negligible: return "negligible";
    case OutputVerdict::StepTooLong: return "step too long";
    case OutputVerdict::NotSeen: return "not seen";
    case OutputVerdict::NotConverging: break;
  }
  return "not converging";
}

std::string verification_json(const Verification& of, Grade grade) {
  auto outputs = nlohmann::ordered_json::object();
  for (const auto& output : of.outputs) {
    nlohmann::ordered_json entry{{"verdict", to_string(output.verdict)},
                                 {"unit", output.unit},
                                 {"order", nullptr},
                                 {"error_bar", nullptr},
                                 {"relative_error", nullptr},
                                 {"relative_bound", nullptr},
                                 {"range", output.range},
                                 {"differences", {output.first_difference, output.second_difference}}};
    if (output.order) entry["order"] = *output.order;
    if (output.error_bar) {
      entry["error_bar"] = *output.error_bar;
      entry["relative_error"] = output.relative_error();
      entry["relative_bound"] = output.relative_bound();
    }
    outputs[output.name] = std::move(entry);
  }
  nlohmann::ordered_json json{{"system", of.system},
                              {"method", of.method},
                              {"grade", to_string(grade)},
                              {"step", of.step},
                              {"confirmed", grade == Grade::Trusted},
                              {"unrefined", of.unrefined},
                              {"doubts", reporting::json_of(of.doubts)},
                              {"failure", nullptr},
                              {"remarks", reporting::json_of(of.remarks)},
                              {"outputs", outputs}};
  if (of.failure) json["failure"] = *of.failure;
  return reporting::json_text(json);
}

}  // namespace entrain
