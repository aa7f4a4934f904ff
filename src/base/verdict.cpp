#include "entrain/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "entrain/fact_codes.hpp"
#include "entrain/text.hpp"

namespace entrain {
namespace {

constexpr std::array<std::string_view, 4> kGrades{"trusted", "check", "unreliable", "unknown"};
constexpr std::size_t kMostCharacters = 100;

bool begins_letter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

std::size_t letters_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_letter));
}

/// At most so many letters, dots in place of the last ones.
std::string shortened(std::string text, std::size_t most) {
  constexpr std::string_view kDots = "...";
  if (letters_of(text) <= most) return text;
  std::size_t letters = 0;
  std::size_t end = 0;
  while (end < text.size() && (!begins_letter(text[end]) || letters++ < most - kDots.size())) ++end;
  return text.substr(0, end).append(kDots);
}

/// "0.026 %", "640 %"
std::string percent(double share) {
  const double value = 100.0 * share;
  return value >= 100.0 && value < 1e6 ? fmt::format("{:.0f} %", value) : fmt::format("{:.2g} %", value);
}

}  // namespace

std::string_view to_string(EstimateKind kind) {
  switch (kind) {
    case EstimateKind::Propagated: return "propagated";
    case EstimateKind::Companion: return "companion";
    case EstimateKind::Unknown: break;
  }
  return "unknown";
}

std::string_view to_string(Grade grade) {
  return kGrades[static_cast<std::size_t>(grade)];
}

std::optional<Grade> grade_named(std::string_view word) {
  const auto found = std::find(kGrades.begin(), kGrades.end(), word);
  if (found == kGrades.end()) return std::nullopt;
  return static_cast<Grade>(found - kGrades.begin());
}

bool meets(Grade grade, RequiredGrade required) {
  switch (required) {
    case RequiredGrade::Trusted: return grade == Grade::Trusted;
    case RequiredGrade::Check: return grade == Grade::Trusted || grade == Grade::Check;
    case RequiredGrade::NotUnreliable: return grade != Grade::Unreliable;
    case RequiredGrade::Any: break;
  }
  return true;
}

Tolerances tolerances_of(const SystemDescription& description) {
  Tolerances result;
  if (description.tolerance) result.usual = description.tolerance->value;
  for (const auto& [output, written] : description.tolerances) result.single[output] = written.value;
  return result;
}

std::string Verdict::headline() const {
  std::string begin(to_string(grade));
  begin.front() = static_cast<char>(begin.front() - 'a' + 'A');
  if (ends_early) begin += fmt::format(" up to t = {} s", short_number(valid_until));
  if (reasons.empty()) return begin;
  const Fact& decisive = reasons.front();
  if (decisive.code != FactCode::ErrorOfOutput) return shortened(begin + ": " + render(decisive), kMostCharacters);
  const auto text = fmt::format("{}: error at most {} of the range{}; the tolerance is {}", begin, percent(bound), "{}",
                                percent(tolerance));
  // The name is cut, not the number behind it.
  const std::size_t others = letters_of(text) - 2 + std::string_view(" of ").size();
  return fmt::format(fmt::runtime(text),
                     " of " + shortened(output, kMostCharacters - std::min(others, kMostCharacters - 4)));
}

}  // namespace entrain
