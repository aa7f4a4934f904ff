#include "report/calls_json.hpp"

#include <nlohmann/json.hpp>

#include "base/csv.hpp"
#include "entrain/error.hpp"

namespace entrain::reporting {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRows = 100'000;  // TracedCalls has fewer

// The columns.
constexpr std::size_t kSubsystem = 0;
constexpr std::size_t kKind = 1;
constexpr std::size_t kFrom = 2;
constexpr std::size_t kTo = 3;
constexpr std::size_t kSeconds = 4;
constexpr std::size_t kOneIn = 5;
constexpr std::size_t kTakes = 6;
constexpr std::size_t kInput = 7;
constexpr std::size_t kFirstCoefficient = 8;

/// False when it is no row of the file.
bool add_row(Json& by_subsystem, const std::vector<std::string>& row) {
  const auto from = base::csv_number(row[kFrom]);
  const auto to = base::csv_number(row[kTo]);
  const auto seconds = base::csv_number(row[kSeconds]);
  const auto one_in = base::csv_number(row[kOneIn]);
  const auto takes = base::csv_number(row[kTakes]);
  if (!from || !to || !seconds || !one_in || !takes || row[kKind].empty()) return false;
  Json& of = by_subsystem[row[kSubsystem]];
  if (of.is_null()) {
    of = {{"one_in", *one_in}, {"takes", *takes}, {"inputs", Json::array()}, {"kinds", ""}};
    for (const char* list : {"from", "to", "seconds", "coefficients"}) of[list] = Json::array();
  }
  Json& inputs = of["inputs"];
  const bool is_first = inputs.empty() || row[kInput] == inputs[0];
  if (is_first) {
    of["kinds"] = of["kinds"].get<std::string>() + row[kKind].front();
    of["from"].push_back(*from);
    of["to"].push_back(*to);
    of["seconds"].push_back(*seconds);
  }
  if (row[kInput].empty()) return true;
  if (of["from"].size() == 1) inputs.push_back(row[kInput]);
  Json coefficients = Json::array();
  for (std::size_t column = kFirstCoefficient; column < row.size(); ++column) {
    if (const auto number = base::csv_number(row[column])) coefficients.push_back(*number);
  }
  of["coefficients"].push_back(std::move(coefficients));
  return true;
}

}  // namespace

Json calls_json(const std::filesystem::path& file) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) return {};
  try {
    const std::string all = base::read_csv_text(file);
    std::string_view text = all;
    auto record = base::take_csv_record(text);
    if (!record || record->size() <= kFirstCoefficient || record->front() != "subsystem") return {};
    const std::size_t columns = record->size();
    Json by_subsystem = Json::object();
    for (std::size_t rows = 0; rows < kMostRows && (record = base::take_csv_record(text)); ++rows) {
      if (record->size() != columns || !add_row(by_subsystem, *record)) return {};
    }
    return by_subsystem;
  } catch (const Error&) {  // too large, or gone
    return {};
  }
}

}  // namespace entrain::reporting
