#include "description/ssp_units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/units.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::description {
namespace {

constexpr std::array<const char*, 8> kBases{"kg", "m", "s", "A", "K", "mol", "cd", "rad"};

/// "kg.m2.s-3"
std::string si_text(const UnitMeaning& meaning) {
  std::string text;
  for (std::size_t i = 0; i < kBases.size(); ++i) {
    const int exponent = meaning.exponents[i];
    if (exponent == 0) continue;
    text += fmt::format("{}{}{}", text.empty() ? "" : ".", kBases[i], exponent == 1 ? "" : std::to_string(exponent));
  }
  return text.empty() ? "1" : text;
}

bool close(double a, double b) {
  constexpr double kRoundings = 1e-12;  // factors are written with 12 digits and more
  return std::abs(a - b) <= kRoundings * std::max(1.0, std::abs(a));
}

bool same(const UnitMeaning& a, const UnitMeaning& b) {
  return a.exponents == b.exponents && close(a.factor / b.factor, 1.0) && close(a.offset, b.offset);
}

}  // namespace

std::string plain_unit(std::string_view text) {
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  return std::string(text);
}

SspUnits read_units(SspXml& xml, const pugi::xml_node& node, SspUnits around) {
  for (const pugi::xml_node unit : base::child_named(node, "Units")) {
    if (base::local_name(unit) != "Unit") continue;
    const auto base = base::child_named(unit, "BaseUnit");
    const std::string name = xml.required(unit, "name");
    if (!base) continue;
    UnitMeaning meaning;
    for (std::size_t i = 0; i < kBases.size(); ++i) meaning.exponents[i] = base.attribute(kBases[i]).as_int(0);
    meaning.factor = xml.number(base, "factor").value_or(1.0);
    meaning.offset = xml.number(base, "offset").value_or(0.0);
    if (meaning.factor == 0.0) {
      xml.add(base, Fact{FactCode::UnitFactorZero, {name}});
      continue;
    }
    around[name] = meaning;
  }
  return around;
}

void express_in_si(SspParameter& parameter, const SspUnits& units) {
  const auto defined = units.find(parameter.unit);
  const auto* number = std::get_if<double>(&parameter.value);
  if (defined == units.end() || number == nullptr) return;
  if (const auto known = base::unit_meaning(parameter.unit); known && same(*known, defined->second)) return;
  parameter.value = defined->second.factor * *number + defined->second.offset;
  parameter.unit = si_text(defined->second);
}

std::string unit_element(const std::string& name, const UnitMeaning& meaning) {
  std::string attributes;
  for (std::size_t i = 0; i < kBases.size(); ++i) {
    if (meaning.exponents[i] != 0) attributes += fmt::format(" {}=\"{}\"", kBases[i], meaning.exponents[i]);
  }
  if (meaning.factor != 1.0) attributes += fmt::format(" factor=\"{}\"", meaning.factor);
  if (meaning.offset != 0.0) attributes += fmt::format(" offset=\"{}\"", meaning.offset);
  return fmt::format("<ssc:Unit name=\"{}\"><ssc:BaseUnit{}/></ssc:Unit>", base::xml_attribute(name), attributes);
}

}  // namespace entrain::description
