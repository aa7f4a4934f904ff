#include "report/measured_seconds.hpp"

#include <nlohmann/json.hpp>

#include "entrain/error.hpp"
#include "entrain/inspection.hpp"
#include "report/run_page.hpp"

namespace entrain {

std::string placement_json(const PlacementInspection& placement) {
  nlohmann::ordered_json json{{"ranks", placement.ranks}, {"placement", placement.by}};
  for (const auto& place : placement.places) {
    json["subsystems"][place.subsystem] = {{"rank", place.rank}, {"seconds", place.seconds}};
  }
  return json.dump(2) + "\n";
}

}  // namespace entrain

namespace entrain::reporting {

std::map<std::string, double> measured_seconds(const std::filesystem::path& folder) {
  std::map<std::string, double> found;
  try {
    const auto run = read_run_json(folder);
    const double steps = run.at("macro_steps").get<double>();
    if (!(steps > 0.0)) return {};
    for (const auto& [name, subsystem] : run.at("subsystems").items()) {
      found[name] = subsystem.at("seconds").get<double>() / steps;
    }
  } catch (const Error&) {
    return {};
  } catch (const nlohmann::json::exception&) {  // of another version
    return {};
  }
  return found;
}

}  // namespace entrain::reporting
