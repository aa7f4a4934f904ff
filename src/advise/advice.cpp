#include "entrain/advice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace entrain {

std::string MethodConfig::title() const {
  auto text = degree ? fmt::format("{} of degree {}", method, *degree) : method;
  if (!sequence.empty()) text += fmt::format(", first {}", fmt::join(sequence, ", then "));
  std::vector<std::string> parts;
  for (const auto& [input, gain] : gains) parts.push_back(fmt::format("{} {:.3g}", input, gain));
  if (!parts.empty()) text += fmt::format(", gains {}", fmt::join(parts, ", "));
  return text;
}

std::optional<double> Candidate::merit() const {
  if (probed_error) return probed_error;
  return equal_cost_error ? equal_cost_error : error;
}

std::string Advice::reason() const {
  return render(reasons, "; ");
}

std::string Advice::sequence_judged() const {
  constexpr std::size_t kNamed = 8;
  if (sequence.size() < 2) return {};
  const std::vector<std::string> named(sequence.begin(),
                                       sequence.size() > kNamed ? sequence.begin() + kNamed : sequence.end());
  return fmt::format("sequential methods are judged with the sequence {}{}", fmt::join(named, ", then "),
                     sequence.size() > kNamed ? fmt::format(", ... ({} in all)", sequence.size()) : "");
}

std::string_view Candidate::growth() const {
  if (!radius) return {};
  if (stable) return *radius > 1.0 ? "as the motion" : "stable";
  return harmless ? "grows slowly" : "grows";
}

}  // namespace entrain
