#include <nlohmann/json.hpp>

#include "entrain/reproduce.hpp"
#include "report/json_parts.hpp"

namespace entrain {
namespace {

nlohmann::ordered_json result_data(const ReproduceResult& result, const std::string& models) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& row : result.rows) {
    nlohmann::ordered_json entry{{"quantity", row.quantity},
                                 {"paper", nullptr},
                                 {"reference", row.reference},
                                 {"reference_is_ours", row.reference_is_ours},
                                 {"ours", row.ours},
                                 {"tolerance", row.tolerance},
                                 {"reason", row.reason},
                                 {"printed", to_string(row.printed)},
                                 {"ok", row.ok}};
    if (row.paper) entry["paper"] = *row.paper;
    rows.push_back(std::move(entry));
  }
  return {{"id", result.id}, {"title", result.title}, {"models", models}, {"rows", rows}};
}

}  // namespace

std::string_view to_string(PrintedNumber printed) {
  switch (printed) {
    case PrintedNumber::NotComparable: return "-";
    case PrintedNumber::Met: return "met";
    case PrintedNumber::Beaten: return "beaten";
    case PrintedNumber::NotMet: return "not met";
  }
  return "-";
}

std::string reproduce_json(const std::vector<ReproduceResult>& results, const std::string& models) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& result : results) list.push_back(result_data(result, models));
  return reporting::json_text(list);
}

std::string reproduce_json(const std::vector<std::pair<std::string, std::string>>& entries) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [id, title] : entries) list.push_back({{"id", id}, {"title", title}});
  return reporting::json_text(list);
}

}  // namespace entrain
