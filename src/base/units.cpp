#include "base/units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numbers>

namespace entrain {
namespace {

struct Symbol {
  std::string_view text;
  UnitMeaning meaning;
};

constexpr double kDegree = std::numbers::pi / 180.0;

// kg, m, s, A, K, mol, cd, rad
constexpr std::array<Symbol, 58> kSymbols{{
    {"1", {}},
    {"kg", {{1}, 1.0, 0.0}},
    {"g", {{1}, 1e-3, 0.0}},
    {"m", {{0, 1}, 1.0, 0.0}},
    {"km", {{0, 1}, 1e3, 0.0}},
    {"dm", {{0, 1}, 1e-1, 0.0}},
    {"cm", {{0, 1}, 1e-2, 0.0}},
    {"mm", {{0, 1}, 1e-3, 0.0}},
    {"um", {{0, 1}, 1e-6, 0.0}},
    {"l", {{0, 3}, 1e-3, 0.0}},
    {"s", {{0, 0, 1}, 1.0, 0.0}},
    {"ms", {{0, 0, 1}, 1e-3, 0.0}},
    {"us", {{0, 0, 1}, 1e-6, 0.0}},
    {"min", {{0, 0, 1}, 60.0, 0.0}},
    {"h", {{0, 0, 1}, 3600.0, 0.0}},
    {"A", {{0, 0, 0, 1}, 1.0, 0.0}},
    {"mA", {{0, 0, 0, 1}, 1e-3, 0.0}},
    {"kA", {{0, 0, 0, 1}, 1e3, 0.0}},
    {"K", {{0, 0, 0, 0, 1}, 1.0, 0.0}},
    {"degC", {{0, 0, 0, 0, 1}, 1.0, 273.15}},
    {"mol", {{0, 0, 0, 0, 0, 1}, 1.0, 0.0}},
    {"cd", {{0, 0, 0, 0, 0, 0, 1}, 1.0, 0.0}},
    {"rad", {{0, 0, 0, 0, 0, 0, 0, 1}, 1.0, 0.0}},
    {"mrad", {{0, 0, 0, 0, 0, 0, 0, 1}, 1e-3, 0.0}},
    {"deg", {{0, 0, 0, 0, 0, 0, 0, 1}, kDegree, 0.0}},
    {"rev", {{0, 0, 0, 0, 0, 0, 0, 1}, 2.0 * std::numbers::pi, 0.0}},
    {"rpm", {{0, 0, -1, 0, 0, 0, 0, 1}, std::numbers::pi / 30.0, 0.0}},
    {"Hz", {{0, 0, -1}, 1.0, 0.0}},
    {"kHz", {{0, 0, -1}, 1e3, 0.0}},
    {"N", {{1, 1, -2}, 1.0, 0.0}},
    {"kN", {{1, 1, -2}, 1e3, 0.0}},
    {"MN", {{1, 1, -2}, 1e6, 0.0}},
    {"J", {{1, 2, -2}, 1.0, 0.0}},
    {"kJ", {{1, 2, -2}, 1e3, 0.0}},
    {"MJ", {{1, 2, -2}, 1e6, 0.0}},
    {"Wh", {{1, 2, -2}, 3600.0, 0.0}},
    {"kWh", {{1, 2, -2}, 3.6e6, 0.0}},
    {"W", {{1, 2, -3}, 1.0, 0.0}},
    {"mW", {{1, 2, -3}, 1e-3, 0.0}},
    {"kW", {{1, 2, -3}, 1e3, 0.0}},
    {"MW", {{1, 2, -3}, 1e6, 0.0}},
    {"Pa", {{1, -1, -2}, 1.0, 0.0}},
    {"hPa", {{1, -1, -2}, 1e2, 0.0}},
    {"kPa", {{1, -1, -2}, 1e3, 0.0}},
    {"MPa", {{1, -1, -2}, 1e6, 0.0}},
    {"bar", {{1, -1, -2}, 1e5, 0.0}},
    {"mbar", {{1, -1, -2}, 1e2, 0.0}},
    {"V", {{1, 2, -3, -1}, 1.0, 0.0}},
    {"mV", {{1, 2, -3, -1}, 1e-3, 0.0}},
    {"kV", {{1, 2, -3, -1}, 1e3, 0.0}},
    {"Ohm", {{1, 2, -3, -2}, 1.0, 0.0}},
    {"kOhm", {{1, 2, -3, -2}, 1e3, 0.0}},
    {"As", {{0, 0, 1, 1}, 1.0, 0.0}},
    {"Ah", {{0, 0, 1, 1}, 3600.0, 0.0}},
    {"H", {{1, 2, -2, -2}, 1.0, 0.0}},
    {"T", {{1, 0, -2, -1}, 1.0, 0.0}},
    {"Wb", {{1, 2, -2, -1}, 1.0, 0.0}},
    {"km/h", {{0, 1, -1}, 1.0 / 3.6, 0.0}},
}};

const UnitMeaning* find_symbol(std::string_view text) {
  for (const auto& symbol : kSymbols) {
    if (symbol.text == text) return &symbol.meaning;
  }
  return nullptr;
}

/// "m2", "m^2", "s-1", "s": a symbol and its exponent.
std::optional<UnitMeaning> power(std::string_view text) {
  constexpr int kLargest = 9;
  if (const auto* symbol = find_symbol(text)) return *symbol;
  const auto digits = text.find_last_not_of("+-0123456789") + 1;
  auto name = text.substr(0, digits);
  auto exponent_text = text.substr(digits);
  if (name.ends_with('^')) name.remove_suffix(1);
  if (exponent_text.starts_with('+')) exponent_text.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] =
      std::from_chars(exponent_text.data(), exponent_text.data() + exponent_text.size(), exponent);
  const auto* symbol = find_symbol(name);
  if (symbol == nullptr || symbol->offset != 0.0 || error != std::errc() ||
      end != exponent_text.data() + exponent_text.size() || std::abs(exponent) > kLargest) {
    return std::nullopt;
  }
  UnitMeaning result = *symbol;
  for (int& e : result.exponents) e *= exponent;
  result.factor = std::pow(symbol->factor, exponent);
  return result;
}

}  // namespace

std::optional<UnitMeaning> unit_meaning(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (const auto* symbol = find_symbol(text)) return *symbol;
  UnitMeaning product;
  bool divides = false;
  while (true) {
    const auto end = text.find_first_of(".*/");
    const auto part = power(text.substr(0, end));
    if (!part || part->offset != 0.0) return std::nullopt;  // degC/s has no offset that would make sense
    for (std::size_t i = 0; i < product.exponents.size(); ++i) {
      product.exponents[i] += divides ? -part->exponents[i] : part->exponents[i];
    }
    product.factor = divides ? product.factor / part->factor : product.factor * part->factor;
    if (end == std::string_view::npos) return product;
    divides = text[end] == '/';
    text.remove_prefix(end + 1);
  }
}

std::optional<UnitMeaning> unit_meaning(const Variable& variable) {
  return variable.meaning ? variable.meaning : unit_meaning(variable.unit);
}

std::optional<UnitConversion> unit_conversion(const UnitMeaning& from, const UnitMeaning& to) {
  if (from.exponents != to.exponents) return std::nullopt;
  return UnitConversion{from.factor / to.factor, (from.offset - to.offset) / to.factor};
}

}  // namespace entrain
