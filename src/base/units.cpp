#include "base/units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>

namespace entrain::base {
namespace {

struct Symbol {
  std::string_view text;
  UnitMeaning meaning;
  bool takes_prefix = false;
};

constexpr double kDegree = std::numbers::pi / 180.0;
constexpr double kFahrenheit = 5.0 / 9.0;               // K
constexpr double kZeroFahrenheit = 459.67 * 5.0 / 9.0;  // K
constexpr bool kPrefixed = true;

// kg, m, s, A, K, mol, cd, rad. A symbol as it stands wins over one with a prefix: "min" are no milli-inches. Those
// whose prefixes would be mistaken for another unit take none: "kt" is a knot to some.
constexpr auto kSymbols = std::to_array<Symbol>({
    {"1", {}},
    {"-", {}},
    {"%", {{}, 1e-2, 0.0}},
    {"ppm", {{}, 1e-6, 0.0}},
    {"kg", {{1}, 1.0, 0.0}},
    {"g", {{1}, 1e-3, 0.0}, kPrefixed},
    {"t", {{1}, 1e3, 0.0}},
    {"lb", {{1}, 0.45359237, 0.0}},
    {"lbm", {{1}, 0.45359237, 0.0}},
    {"m", {{0, 1}, 1.0, 0.0}, kPrefixed},
    {"in", {{0, 1}, 0.0254, 0.0}},
    {"ft", {{0, 1}, 0.3048, 0.0}},
    {"l", {{0, 3}, 1e-3, 0.0}, kPrefixed},
    {"L", {{0, 3}, 1e-3, 0.0}, kPrefixed},
    {"s", {{0, 0, 1}, 1.0, 0.0}, kPrefixed},
    {"min", {{0, 0, 1}, 60.0, 0.0}},
    {"h", {{0, 0, 1}, 3600.0, 0.0}},
    {"d", {{0, 0, 1}, 86400.0, 0.0}},
    {"A", {{0, 0, 0, 1}, 1.0, 0.0}, kPrefixed},
    {"K", {{0, 0, 0, 0, 1}, 1.0, 0.0}, kPrefixed},
    {"degC", {{0, 0, 0, 0, 1}, 1.0, 273.15}},
    {"°C", {{0, 0, 0, 0, 1}, 1.0, 273.15}},
    {"degF", {{0, 0, 0, 0, 1}, kFahrenheit, kZeroFahrenheit}},
    {"°F", {{0, 0, 0, 0, 1}, kFahrenheit, kZeroFahrenheit}},
    {"mol", {{0, 0, 0, 0, 0, 1}, 1.0, 0.0}, kPrefixed},
    {"cd", {{0, 0, 0, 0, 0, 0, 1}, 1.0, 0.0}, kPrefixed},
    {"rad", {{0, 0, 0, 0, 0, 0, 0, 1}, 1.0, 0.0}, kPrefixed},
    {"deg", {{0, 0, 0, 0, 0, 0, 0, 1}, kDegree, 0.0}},
    {"°", {{0, 0, 0, 0, 0, 0, 0, 1}, kDegree, 0.0}},
    {"rev", {{0, 0, 0, 0, 0, 0, 0, 1}, 2.0 * std::numbers::pi, 0.0}},
    {"rpm", {{0, 0, -1, 0, 0, 0, 0, 1}, std::numbers::pi / 30.0, 0.0}},
    {"Hz", {{0, 0, -1}, 1.0, 0.0}, kPrefixed},
    {"N", {{1, 1, -2}, 1.0, 0.0}, kPrefixed},
    {"lbf", {{1, 1, -2}, 4.4482216152605, 0.0}},
    {"kgf", {{1, 1, -2}, 9.80665, 0.0}},
    {"J", {{1, 2, -2}, 1.0, 0.0}, kPrefixed},
    {"Nm", {{1, 2, -2}, 1.0, 0.0}, kPrefixed},
    {"Ws", {{1, 2, -2}, 1.0, 0.0}, kPrefixed},
    {"Wh", {{1, 2, -2}, 3600.0, 0.0}, kPrefixed},
    {"eV", {{1, 2, -2}, 1.602176634e-19, 0.0}, kPrefixed},
    {"W", {{1, 2, -3}, 1.0, 0.0}, kPrefixed},
    {"VA", {{1, 2, -3}, 1.0, 0.0}, kPrefixed},
    {"PS", {{1, 2, -3}, 735.49875, 0.0}},
    {"Pa", {{1, -1, -2}, 1.0, 0.0}, kPrefixed},
    {"bar", {{1, -1, -2}, 1e5, 0.0}, kPrefixed},
    {"atm", {{1, -1, -2}, 101325.0, 0.0}},
    {"psi", {{1, -1, -2}, 4.4482216152605 / (0.0254 * 0.0254), 0.0}},
    {"V", {{1, 2, -3, -1}, 1.0, 0.0}, kPrefixed},
    {"Ohm", {{1, 2, -3, -2}, 1.0, 0.0}, kPrefixed},
    {"ohm", {{1, 2, -3, -2}, 1.0, 0.0}, kPrefixed},
    {"Ω", {{1, 2, -3, -2}, 1.0, 0.0}, kPrefixed},
    {"S", {{-1, -2, 3, 2}, 1.0, 0.0}, kPrefixed},
    {"F", {{-1, -2, 4, 2}, 1.0, 0.0}, kPrefixed},
    {"C", {{0, 0, 1, 1}, 1.0, 0.0}, kPrefixed},
    {"As", {{0, 0, 1, 1}, 1.0, 0.0}, kPrefixed},
    {"Ah", {{0, 0, 1, 1}, 3600.0, 0.0}, kPrefixed},
    {"H", {{1, 2, -2, -2}, 1.0, 0.0}, kPrefixed},
    {"T", {{1, 0, -2, -1}, 1.0, 0.0}, kPrefixed},
    {"Wb", {{1, 2, -2, -1}, 1.0, 0.0}, kPrefixed},
});

struct Prefix {
  std::string_view text;
  double factor;
};
constexpr auto kPrefixes = std::to_array<Prefix>({{"T", 1e12},
                                                  {"G", 1e9},
                                                  {"M", 1e6},
                                                  {"k", 1e3},
                                                  {"h", 1e2},
                                                  {"da", 1e1},
                                                  {"d", 1e-1},
                                                  {"c", 1e-2},
                                                  {"m", 1e-3},
                                                  {"u", 1e-6},
                                                  {"\u00b5", 1e-6},  // the micro sign ...
                                                  {"\u03bc", 1e-6},  // ... and the Greek letter
                                                  {"n", 1e-9},
                                                  {"p", 1e-12},
                                                  {"f", 1e-15}});

const Symbol* find_symbol(std::string_view text) {
  for (const auto& symbol : kSymbols) {
    if (symbol.text == text) return &symbol;
  }
  return nullptr;
}

std::optional<UnitMeaning> named_unit(std::string_view text) {
  if (const auto* symbol = find_symbol(text)) return symbol->meaning;
  for (const auto& prefix : kPrefixes) {
    if (!text.starts_with(prefix.text)) continue;
    const auto* symbol = find_symbol(text.substr(prefix.text.size()));
    if (symbol == nullptr || !symbol->takes_prefix) continue;
    UnitMeaning meaning = symbol->meaning;
    meaning.factor *= prefix.factor;
    return meaning;
  }
  return std::nullopt;
}

/// Reads a text from its beginning to its end, by descending into parentheses.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  std::optional<UnitMeaning> whole() {
    auto result = product(0);
    return rest_.empty() ? result : std::nullopt;
  }

 private:
  std::optional<UnitMeaning> product(int depth) {
    auto result = factor(depth);
    while (result && !rest_.empty() && rest_.front() != ')') {
      const bool divides = rest_.front() == '/';
      if (!divides && rest_.front() != '.' && rest_.front() != '*') return std::nullopt;
      rest_.remove_prefix(1);
      const auto next = factor(depth);
      if (!next) return std::nullopt;
      for (std::size_t i = 0; i < result->exponents.size(); ++i) {
        result->exponents[i] += divides ? -next->exponents[i] : next->exponents[i];
      }
      result->factor = divides ? result->factor / next->factor : result->factor * next->factor;
      result->offset = 0.0;
    }
    return result;
  }

  std::optional<UnitMeaning> factor(int depth) {
    constexpr int kDeepest = 8;  // texts come from files of others
    if (!rest_.starts_with('(')) return symbol_with_exponent();
    if (depth == kDeepest) return std::nullopt;
    rest_.remove_prefix(1);
    const auto inside = product(depth + 1);
    if (!inside || !rest_.starts_with(')')) return std::nullopt;
    rest_.remove_prefix(1);
    return raised(*inside, taken_to_operator());
  }

  /// "m2", "m^2", "s-1", "s".
  std::optional<UnitMeaning> symbol_with_exponent() {
    const auto text = taken_to_operator();
    if (auto unit = named_unit(text)) return unit;  // "1" and "-" are no exponents
    const auto digits = text.find_last_not_of("+-0123456789") + 1;
    auto name = text.substr(0, digits);
    if (name.ends_with('^')) name.remove_suffix(1);
    for (const std::string_view superscript : {"²", "³"}) {
      if (name.ends_with(superscript)) name.remove_suffix(superscript.size());
    }
    const auto unit = named_unit(name);
    if (!unit || name.size() == text.size()) return std::nullopt;
    return raised(*unit, text.substr(name.size()));
  }

  std::string_view taken_to_operator() {
    const auto text = rest_.substr(0, rest_.find_first_of(".*/()"));
    rest_.remove_prefix(text.size());
    return text;
  }

  static std::optional<UnitMeaning> raised(UnitMeaning unit, std::string_view text) {
    constexpr int kLargest = 9;
    if (text.empty()) return unit;
    if (text.starts_with('^')) text.remove_prefix(1);
    if (text.starts_with('+')) text.remove_prefix(1);
    if (text == "²") text = "2";
    if (text == "³") text = "3";
    int exponent = 0;
    const auto* end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, exponent);
    if (error != std::errc() || last != end || std::abs(exponent) > kLargest) return std::nullopt;
    for (int& e : unit.exponents) e *= exponent;
    unit.factor = std::pow(unit.factor, exponent);
    unit.offset = 0.0;
    return unit;
  }

  std::string_view rest_;
};

bool is_temperature(const UnitMeaning& meaning) {
  return meaning.exponents == UnitMeaning{{0, 0, 0, 0, 1}}.exponents;
}

}  // namespace

std::optional<UnitMeaning> unit_meaning(std::string_view text) {
  return Parser(text).whole();
}

std::optional<UnitMeaning> unit_meaning(const Variable& variable) {
  return variable.meaning ? variable.meaning : unit_meaning(variable.unit);
}

UnitMeaning as_difference(UnitMeaning meaning) {
  meaning.offset = std::numeric_limits<double>::quiet_NaN();
  return meaning;
}

bool is_difference(const UnitMeaning& meaning) {
  return std::isnan(meaning.offset);
}

std::optional<UnitConversion> unit_conversion(const UnitMeaning& from, const UnitMeaning& to) {
  if (from.exponents != to.exponents) return std::nullopt;
  const bool offsets_count = !is_difference(from) && !is_difference(to);
  return UnitConversion{from.factor / to.factor, offsets_count ? (from.offset - to.offset) / to.factor : 0.0};
}

UnitMatch match_units(const Variable& output, const Variable& input) {
  const auto from = unit_meaning(output);
  const auto to = unit_meaning(input);
  if (output.unit.empty() || input.unit.empty()) return {};
  const bool known = from && to;
  if (known && is_difference(*from) != is_difference(*to) && is_temperature(*from) && is_temperature(*to)) {
    return {UnitMatch::Kind::Difference, {}};
  }
  const bool both_define = output.meaning && input.meaning;
  if (output.unit == input.unit && !both_define) return {};
  if (!known) return {UnitMatch::Kind::NotKnown, {}};
  const auto conversion = unit_conversion(*from, *to);
  return conversion ? UnitMatch{UnitMatch::Kind::Fits, *conversion} : UnitMatch{UnitMatch::Kind::Different, {}};
}

}  // namespace entrain::base
