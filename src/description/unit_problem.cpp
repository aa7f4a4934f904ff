#include "description/unit_problem.hpp"

#include <fmt/format.h>

#include "entrain/fact_codes.hpp"

namespace entrain::description {
namespace {

std::string reason_of(base::UnitMatch::Kind kind, const Variable& output, const Variable& input) {
  const bool output_is_known = base::unit_meaning(output).has_value();
  const bool neither = !output_is_known && !base::unit_meaning(input);
  if (kind == base::UnitMatch::Kind::Difference) return "one is a temperature, the other a difference of temperatures";
  if (kind == base::UnitMatch::Kind::NotKnown) {
    return neither ? "neither unit is known"
                   : fmt::format("the unit '{}' is not known", output_is_known ? input.unit : output.unit);
  }
  return output.unit == input.unit ? "their subsystems define the unit differently"
                                   : "the units measure different things";
}

}  // namespace

Problem unit_problem(base::UnitMatch::Kind kind, const ConnectionDescription& connection, const Variable& output,
                     const Variable& input) {
  const bool passes = kind == base::UnitMatch::Kind::NotKnown;
  return problem_of(
      {passes ? FactCode::UnitsNotConverted : FactCode::UnitsDoNotMatch,
       {connection.output, connection.input},
       {{"output_unit", output.unit}, {"input_unit", input.unit}, {"why", reason_of(kind, output, input)}}},
      "write a factor to convert by hand: { to = ..., factor = ... }", connection.where);
}

}  // namespace entrain::description
