#pragma once

#include <array>
#include <cstdint>

#include "entrain/options.hpp"

namespace entrain::trials {

/// How exponentials of matrices are found.
enum class LaplaceInversion {
  Exact,
  GaverStehfest,
  GaverStehfestQuotients,  ///< slopes too are those of the papers: difference quotients, (48) of COSTARICA
};

}  // namespace entrain::trials

namespace entrain {
template <>
struct ChoiceNames<trials::LaplaceInversion> {
  static constexpr std::array<ChoiceName<trials::LaplaceInversion>, 3> all{
      {{trials::LaplaceInversion::Exact, "exact"},
       {trials::LaplaceInversion::GaverStehfest, "gaver-stehfest"},
       {trials::LaplaceInversion::GaverStehfestQuotients, "gaver-stehfest-quotients"}}};
};

}  // namespace entrain

namespace entrain::trials {

/// How the part of the outputs that the linearization leaves goes on.
enum class OutputControl : std::uint8_t { Hold, First, Flexible };

}  // namespace entrain::trials

namespace entrain {
template <>
struct ChoiceNames<trials::OutputControl> {
  static constexpr std::array<ChoiceName<trials::OutputControl>, 3> all{
      {{trials::OutputControl::Hold, "hold"},
       {trials::OutputControl::First, "first"},
       {trials::OutputControl::Flexible, "flexible"}}};
};

}  // namespace entrain

namespace entrain::trials {

/// When a new linearization is requested.
enum class LinearizationRenewal : std::uint8_t { EveryStep, WhenNeeded, Once };

}  // namespace entrain::trials

namespace entrain {
template <>
struct ChoiceNames<trials::LinearizationRenewal> {
  static constexpr std::array<ChoiceName<trials::LinearizationRenewal>, 3> all{
      {{trials::LinearizationRenewal::EveryStep, "every-step"},
       {trials::LinearizationRenewal::WhenNeeded, "when-needed"},
       {trials::LinearizationRenewal::Once, "once"}}};
};

}  // namespace entrain

namespace entrain::trials {

/// How steps are estimated; the methods that estimate share these options.
struct EstimatorOptions {
  LaplaceInversion laplace = LaplaceInversion::Exact;
  int stehfest_terms = 14;
  OutputControl control = OutputControl::Flexible;
  int reconstruction = 0;
  LinearizationRenewal linearize = LinearizationRenewal::EveryStep;
  double linearization_tolerance = 1e-6;

  void bind(OptionBinder& binder);
  /// What limits cannot express; `method` is for the messages.
  void check(std::string_view method, const WrittenOptions& written, std::vector<Problem>& problems) const;
};

}  // namespace entrain::trials
