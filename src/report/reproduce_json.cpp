#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/replace_file.hpp"
#include "entrain/reproduce.hpp"
#include "report/json_parts.hpp"
#include "report/page.hpp"

namespace entrain {
namespace {

using Json = nlohmann::ordered_json;

/// "missiles" of "missiles.table4".
std::string paper_of(const std::string& id) {
  return id.substr(0, id.find('.'));
}

Json number_or_null(const std::optional<double>& number) {
  return number ? Json(*number) : Json(nullptr);
}

Json result_data(const ReproduceResult& result) {
  auto rows = Json::array();
  for (const auto& row : result.rows) {
    rows.push_back({{"quantity", row.quantity},
                    {"paper", number_or_null(row.paper)},
                    {"where", row.where},
                    {"reference", row.reference},
                    {"reference_is", to_word(row.reference_is)},
                    {"ours", row.ours},
                    {"tolerance", row.tolerance},
                    {"reason", row.reason},
                    {"printed", to_word(row.printed)},
                    {"ok", row.ok}});
  }
  auto measurements = Json::array();
  for (const auto& measured : result.measurements) {
    measurements.push_back(
        {{"quantity", measured.quantity}, {"paper", number_or_null(measured.paper)}, {"ours", measured.ours}});
  }
  return {{"id", result.id},
          {"title", result.title},
          {"seconds", result.seconds},
          {"rows", rows},
          {"measurements", measurements}};
}

Json axis_data(const ReproduceAxis& axis) {
  return {{"title", axis.title}, {"logarithmic", axis.logarithmic}};
}

Json figure_data(const ReproduceFigure& figure) {
  auto curves = Json::array();
  for (const auto& curve : figure.curves) {
    curves.push_back({{"name", curve.name}, {"mark", to_word(curve.mark)}, {"x", curve.x}, {"y", curve.y}});
  }
  return {{"title", figure.title}, {"x", axis_data(figure.x)}, {"y", axis_data(figure.y)}, {"curves", curves}};
}

}  // namespace

PrintedCounts printed_counts(const std::vector<ReproduceResult>& results) {
  std::map<std::pair<std::string, std::string>, PrintedNumber> best;  // the enumerators stand from worst to best
  for (const auto& result : results) {
    for (const auto& row : result.rows) {
      if (!row.paper) continue;
      auto& known = best.try_emplace({paper_of(result.id), row.where}, row.printed).first->second;
      known = std::max(known, row.printed);
    }
  }
  PrintedCounts counts;
  for (const auto& [number, printed] : best) {
    switch (printed) {
      case PrintedNumber::NotPrinted: break;
      case PrintedNumber::NotComparable: ++counts.not_comparable; break;
      case PrintedNumber::NotMet: ++counts.not_met; break;
      case PrintedNumber::Met: ++counts.met; break;
      case PrintedNumber::Beaten: ++counts.beaten; break;
    }
  }
  return counts;
}

namespace {

/// Of everything but the results.
Json overview_data(const std::vector<ReproduceResult>& results, const std::string& models) {
  const PrintedCounts counts = printed_counts(results);
  return {{"models", models},
          {"printed",
           {{"numbers", counts.numbers()},
            {"met", counts.met},
            {"beaten", counts.beaten},
            {"not met", counts.not_met},
            {"not comparable", counts.not_comparable}}}};
}

}  // namespace

std::string reproduce_json(const std::vector<ReproduceResult>& results, const std::string& models) {
  auto data = overview_data(results, models);
  auto& list = data["results"] = Json::array();
  for (const auto& result : results) list.push_back(result_data(result));
  return reporting::json_text(data);
}

std::string reproduce_json(const std::vector<std::pair<std::string, std::string>>& entries) {
  auto list = Json::array();
  for (const auto& [id, title] : entries) list.push_back({{"id", id}, {"title", title}});
  return reporting::json_text(list);
}

void write_reproduction_page(const std::vector<ReproduceResult>& results, const std::string& models,
                             const std::filesystem::path& file) {
  auto data = overview_data(results, models);
  data["kind"] = "reproduction";
  auto& list = data["results"] = Json::array();
  for (const auto& result : results) {
    auto entry = result_data(result);
    auto& figures = entry["figures"] = Json::array();
    for (const auto& figure : result.figures) figures.push_back(figure_data(figure));
    list.push_back(std::move(entry));
  }
  base::replace_file(file, reporting::page_with(data));
}

}  // namespace entrain
