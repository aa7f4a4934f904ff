#include "trials/estimator_options.hpp"

#include <fmt/format.h>

#include "entrain/fact_codes.hpp"

namespace entrain::trials {

void EstimatorOptions::bind(OptionBinder& binder) {
  binder.choice(
      "laplace", laplace,
      "costarica: exact exponential, or the papers' numerical inversion of Laplace transforms, with exact slopes or "
      "with their difference quotients");
  binder.integer("stehfest_terms", stehfest_terms, "terms of gaver-stehfest, even: 8 and 14 are usual", {2, 18});
  binder.choice(
      "control", control,
      "costarica: what the linearization leaves of the outputs is held, continued by a line, or by the degree "
      "0..2 that predicted the last value best");
  binder.integer("reconstruction", reconstruction,
                 "costarica: what the linearization leaves of the state derivatives is held (0) or continued by a "
                 "parabola through three points (2)",
                 {0, 2});
  binder.choice("linearize", linearize, "costarica: when to ask for a new linearization; behind a jump always");
  binder.number(
      "linearization_tolerance", linearization_tolerance,
      "linearize = \"when-needed\": error of an output over a step, relative to its range so far, that asks for it",
      {0.0});
}

void EstimatorOptions::check(std::string_view method, const WrittenOptions& written,
                             std::vector<Problem>& problems) const {
  const auto add = [&](const char* option, const char* rule, int value) {
    problems.push_back(problem_of(
        {FactCode::OutOfRange, {fmt::format("method.{}.{}", method, option)}, {{"range", rule}, {"value", value}}}, "",
        position_of(written, option)));
  };
  if (reconstruction == 1) add("reconstruction", "0 or 2", reconstruction);
  if (stehfest_terms % 2 != 0) add("stehfest_terms", "even", stehfest_terms);
}

}  // namespace entrain::trials
