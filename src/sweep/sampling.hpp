#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "entrain/error.hpp"
#include "entrain/sweep.hpp"

namespace entrain::sweeping {

/// Without spaces and tabs at both ends.
std::string trimmed(const std::string& text);

/// What a variation takes its values from.
struct Law {
  enum class Kind { Values, Uniform, Normal, Lognormal, Triangular };
  Kind kind = Kind::Values;
  std::vector<double> numbers;          ///< the values; or the parameters of a distribution
  std::vector<std::string> words = {};  ///< of values that are no numbers; `numbers` are their indices

  bool is_discrete() const { return kind == Kind::Values; }
  /// The value below which this share of the distribution lies; 0 < share < 1.
  double quantile(double share) const;
};

/// "0.4..0.6/5" (that many points, both ends included), "0.4..0.6" (uniform), "1, 2, 4", "true, false",
/// "uniform(a, b)", "normal(mean, standard deviation)", "lognormal(...)" with those of the logarithm,
/// "triangular(least, mode, largest)". An empty text, or why it is none.
std::string read_law(const std::string& text, Law& law);

/// The cases of a sweep, each a value per variation.
struct SweepPlan {
  SweepSampling sampling = SweepSampling::Grid;
  std::vector<SweepInput> inputs;
  std::vector<SourcePosition> where;  ///< of the inputs
  std::vector<std::vector<double>> cases;
  std::size_t base_cases = 0;  ///< of Sobol sampling: rows of each of its matrices

  /// Of all that decides which cases there are.
  std::string text;
};

/// Adds problems; the plan is usable when there are none. `folder`: of the system file, for a list. Throws
/// Error{InvalidSystem} for more than `most` cases, before they are made.
SweepPlan plan_sweep(const SweepDescription& sweep, const std::filesystem::path& folder, std::size_t most,
                     std::vector<Problem>& problems);

/// The value of an input as it is written: a number, or its word.
std::string input_text(const SweepInput& input, double value);

/// Uniform in (0, 1), by seed, stream and place alone: no order of calls matters.
double random_share(std::uint64_t seed, std::uint64_t stream, std::uint64_t place);

}  // namespace entrain::sweeping
