#include "report/advice_page.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/replace_file.hpp"
#include "report/json_parts.hpp"
#include "report/page.hpp"

namespace entrain {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

Json number(const std::optional<double>& value) {
  return value ? number(*value) : Json();
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

Json ranges(const std::vector<StableRange>& of) {
  Json list = Json::array();
  for (const auto& range : of) list.push_back({number(range.low), number(range.high)});
  return list;
}

Json advice_part(const MethodConfig& config) {
  Json json{{"method", config.method}};
  if (config.degree) json["degree"] = *config.degree;
  if (!config.sequence.empty()) json["sequence"] = config.sequence;
  if (!config.gains.empty()) json["gains"] = config.gains;
  return json;
}

Json advice_part(const Candidate& of) {
  Json json = advice_part(static_cast<const MethodConfig&>(of));
  json["searched"] = of.searched;
  json["obstacles"] = reporting::json_of(of.obstacles);
  json["radius"] = number(of.radius);
  json["stable"] = of.radius ? Json(of.stable) : Json();
  json["growth"] = of.radius ? Json(of.growth()) : Json();
  json["stable_steps"] = ranges(of.stable_steps.ranges);
  const auto& searched = of.stable_steps.searched;
  json["searched_steps"] = searched.high > 0.0 ? Json{number(searched.low), number(searched.high)} : Json();
  json["error"] = number(of.error);
  if (of.tried) {
    json["tried"] = {{"step", number(of.tried->step)},
                     {"length", number(of.tried->length)},
                     {"whole", of.tried->whole},
                     {"error", number(of.tried->error)},
                     {"bound", number(of.tried->bound)}};
  }
  json["calls_per_step"] = number(of.calls_per_step);
  return json;
}

Json advice_part(const Robustness& of, const Advice& advice) {
  Json margins = Json::object();
  for (const auto& [subsystem, margin] : of.margins) margins[subsystem] = number(margin);
  Json json{{"of", advice.candidates[of.candidate].title()},
            {"consistency", number(of.consistency)},
            {"structured_radius", std::move(margins)}};
  if (of.initialisation) {
    json["initialisation"] = {{"radius", number(of.initialisation->radius)},
                              {"converges", of.initialisation->converges}};
  }
  return json;
}

Json advice_part(const Front& front) {
  Json points = Json::array();
  for (const auto& of : front.points) {
    Json point = advice_part(of.config);
    point["step"] = number(of.step);
    point["radius"] = number(of.quality.radius);
    point["consistency"] = number(of.quality.consistency);
    points.push_back(std::move(point));
  }
  return {{"how", front.how ? reporting::json_of(*front.how) : Json()},
          {"knee", front.points.empty() ? Json() : Json(front.knee)},
          {"points", std::move(points)}};
}

Json advice_part(const HeatMap& of) {
  Json rows = Json::array();
  for (const auto& row : of.radius) rows.push_back(numbers(row));
  return {{"config", of.config},
          {"x", {{"name", of.x.name}, {"values", numbers(of.x.values)}}},
          {"y", {{"name", of.y.name}, {"values", numbers(of.y.values)}}},
          {"radius", std::move(rows)}};
}

Json curves_of(const Advice& advice) {
  Json list = Json::array();
  for (const auto& curve : advice.curves) {
    Json entry{{"method", curve.config.title()}, {"step", numbers(curve.steps)}, {"radius", numbers(curve.radius)}};
    if (!curve.consistency.empty()) entry["consistency"] = numbers(curve.consistency);
    list.push_back(std::move(entry));
  }
  return list;
}

Json parameters_of(const Advice& advice) {
  Json list = Json::object();
  for (const auto& of : advice.parameters) {
    list[of.name] = {{"value", number(of.value)},
                     {"searched", {number(of.low), number(of.high)}},
                     {"stable", ranges(of.stable)},
                     {"method", of.config},
                     {"step", number(of.step)}};
  }
  return list;
}

/// Configs and steps of which both error and cost are known.
Json choices_of(const Advice& advice) {
  Json list = Json::array();
  for (const auto& of : advice.candidates) {
    const auto add = [&](const std::optional<double>& error, Duration step) {
      if (!of.obstacles.empty() || !error || !std::isfinite(*error) || !of.calls_per_step || !(step > 0.0)) return;
      list.push_back({{"method", of.title()}, {"step", step}, {"calls", *of.calls_per_step / step}, {"error", *error}});
    };
    add(of.error, advice.step);
    if (of.tried) add(of.tried->error, of.tried->step);
  }
  return list;
}

Json searched_of(const Front& front) {
  Json points = Json::array();
  for (const auto& of : front.points) {
    points.push_back({{"step", number(of.step)},
                      {"radius", number(of.quality.radius)},
                      {"consistency", number(of.quality.consistency)},
                      {"choice", of.config.title()}});
  }
  return {{"knee", front.knee}, {"points", std::move(points)}};
}

Json page_data(const Advice& advice) {
  Json why = Json::array({advice.reason()});
  for (const auto& remark : advice.remarks) why.push_back(render(remark));
  if (const auto sequence = advice.sequence_judged(); !sequence.empty()) why.push_back(sequence);
  Json data{{"kind", "advice"}, {"title", advice.system}, {"system", advice.system}, {"step", number(advice.step)}};
  data["recommendation"] = {{"method", advice.choice ? Json(advice.candidates[*advice.choice].title()) : Json()},
                            {"step", advice.choice ? number(advice.recommended_step.value_or(advice.step)) : Json()},
                            {"why", std::move(why)}};
  Json methods = Json::array();
  for (const auto& of : advice.candidates) {
    Json entry{{"name", of.title()}, {"usable", of.obstacles.empty()}};
    if (!of.obstacles.empty()) entry["why_not"] = render(of.obstacles.front());
    entry["radius"] = number(of.radius);
    entry["growth"] = of.radius ? of.growth() : "not forecast";
    entry["error"] = number(of.known_error());
    entry["cost"] = number(of.calls_per_step);
    methods.push_back(std::move(entry));
  }
  data["methods"] = std::move(methods);
  if (!advice.curves.empty()) data["curves"] = curves_of(advice);
  data["choices"] = choices_of(advice);
  if (advice.front) data["search"] = searched_of(*advice.front);
  if (advice.heat) data["heat"] = advice_part(*advice.heat);
  return data;
}

}  // namespace

std::string advice_json(const Advice& advice) {
  Json candidates = Json::array();
  for (const auto& of : advice.candidates) candidates.push_back(advice_part(of));
  Json json{{"system", advice.system},
            {"step", number(advice.step)},
            {"capabilities", advice.capabilities},
            {"algebraic_loops", advice.loops},
            {"sequence", advice.sequence},
            {"fastest_rate", number(advice.fastest_rate)},
            {"operating_points", advice.operating_points},
            {"candidates", std::move(candidates)},
            {"method", nullptr},
            {"degree", nullptr},
            {"recommended_step", number(advice.recommended_step)},
            {"reason", advice.reason()},
            {"reasons", reporting::json_of(advice.reasons)},
            {"remarks", reporting::json_of(advice.remarks)},
            {"missing", reporting::json_of(advice.missing)},
            {"calls", number(advice.calls)}};
  if (advice.choice) json.update(advice_part(static_cast<const MethodConfig&>(advice.candidates[*advice.choice])));
  if (advice.grade) json["grade"] = to_string(*advice.grade);
  if (advice.verification) json["verification"] = Json::parse(verification_json(*advice.verification, *advice.grade));
  if (advice.robustness) json["robustness"] = advice_part(*advice.robustness, advice);
  if (!advice.parameters.empty()) json["parameters"] = parameters_of(advice);
  if (advice.joint_factor) json["joint_factor"] = number(*advice.joint_factor);
  if (advice.front) json["front"] = advice_part(*advice.front);
  if (!advice.curves.empty()) json["curves"] = curves_of(advice);
  if (advice.heat) json["heat"] = advice_part(*advice.heat);
  return reporting::json_text(json);
}

}  // namespace entrain

namespace entrain::reporting {

std::string advice_page_json(const Advice& advice) {
  return json_text(page_data(advice));
}

std::string advice_page(const Advice& advice) {
  return page_with(page_data(advice));
}

}  // namespace entrain::reporting

namespace entrain {

void write_advice_page(const Advice& advice, const std::filesystem::path& file) {
  base::replace_file(file, reporting::advice_page(advice));
}

}  // namespace entrain
