#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/replace_file.hpp"
#include "entrain/run_summary.hpp"
#include "entrain/sweep.hpp"
#include "report/page.hpp"

namespace entrain::sweeping {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostNumbers = 90'000;  // in the table of the page
constexpr std::size_t kMostFailed = 200;
constexpr std::size_t kMostBands = 12;

/// Six digits: a page is read, not computed with.
Json drawn(double value) {
  if (!std::isfinite(value)) return {};
  if (value == 0.0) return 0.0;
  const double scale = std::pow(10.0, 5.0 - std::floor(std::log10(std::abs(value))));
  return std::isfinite(scale) ? Json(std::round(value * scale) / scale) : Json(value);
}

Json drawn(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(drawn(value));
  return list;
}

/// Every case, or evenly spaced ones where they are too many.
Json cases_of(const SweepResult& result) {
  const std::size_t columns = result.inputs.size() + result.quantities.size() + 2;
  const std::size_t most = std::max<std::size_t>(100, kMostNumbers / columns);
  const std::size_t stride = (result.cases.size() + most - 1) / most;
  Json rows = Json::array();
  for (std::size_t i = 0; i < result.cases.size(); i += std::max<std::size_t>(1, stride)) {
    const auto& row = result.cases[i];
    rows.push_back({row.number, drawn(row.inputs), drawn(row.quantities), row.grade});
  }
  return rows;
}

Json failed_of(const SweepResult& result) {
  Json rows = Json::array();
  for (const auto& row : result.cases) {
    if (row.termination == to_string(Termination::Completed)) continue;
    if (rows.size() < kMostFailed) rows.push_back({row.number, drawn(row.inputs), row.termination, row.message});
  }
  return rows;
}

Json bands_json(const SweepResult& result) {
  Json list = Json::array();
  for (std::size_t b = 0; b < std::min(kMostBands, result.bands.size()); ++b) {
    const auto& band = result.bands[b];
    list.push_back({{"name", band.signal},
                    {"unit", band.unit},
                    {"lines", {drawn(band.p5), drawn(band.p25), drawn(band.p50), drawn(band.p75), drawn(band.p95)}}});
  }
  return list;
}

}  // namespace
}  // namespace entrain::sweeping

namespace entrain {

void write_sweep_page(const SweepResult& result, const std::filesystem::path& file) {
  using sweeping::Json;
  const Json known = Json::parse(sweep_json(result));
  Json data{{"kind", "sweep"}};
  data.update(known);
  data["folder"] = result.folder.string();
  data["interrupted"] = result.interrupted;
  data["times"] = sweeping::drawn(result.times);
  data["bands"] = sweeping::bands_json(result);
  data["rows"] = sweeping::cases_of(result);
  data["failures"] = sweeping::failed_of(result);
  base::replace_file(file, reporting::page_with(data));
}

}  // namespace entrain
