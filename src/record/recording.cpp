#include "entrain/recording.hpp"

#include <algorithm>

#include "base/suggest.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain {

const std::vector<double>& Recording::column(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw Error(ErrorCode::InvalidSystem, {FactCode::NotRecorded, {std::string(name)}},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = suggestion(name, names)});
  }
  return columns[static_cast<std::size_t>(found - names.begin())];
}

}  // namespace entrain
