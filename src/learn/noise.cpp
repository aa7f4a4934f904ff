#include "learn/noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include "learn/update.hpp"

namespace entrain::learning {
namespace {

constexpr int kFrequencies = 48;           // at which the factor from run to run is measured
constexpr double kShareOfSpectrum = 1e-3;  // below it a frequency is noise
constexpr double kCutoffRatio = 1.25;      // between two cutoffs that are tried
constexpr double kWorthFiltering = 0.8;    // of the mean square of the noise: at most this much is left
constexpr double kMostLeft = 0.25;         // by the filter, of the largest noise
constexpr double kForgottenNoise = 0.1;    // what forgetting leaves, of the noise
constexpr double kMostForgotten = 0.1;

/// The amplitude of one frequency in samples with this distance.
double amplitude(const std::vector<double>& samples, double angle) {
  const std::complex<double> turn = std::polar(1.0, angle);
  std::complex<double> sum = 0.0;
  for (auto sample = samples.rbegin(); sample != samples.rend(); ++sample) sum = sum * turn + *sample;
  return std::abs(sum);
}

/// What is the same in both runs, and what is not.
struct SignalAndNoise {
  std::vector<double> signal;
  std::vector<double> noise;  // of one run
};

SignalAndNoise separated(const std::vector<double>& once, const std::vector<double>& again) {
  SignalAndNoise result;
  for (std::size_t k = 0; k < once.size(); ++k) {
    result.signal.push_back(0.5 * (once[k] + again[k]));
    result.noise.push_back((again[k] - once[k]) / std::numbers::sqrt2);
  }
  return result;
}

/// The first step needs no correction, and the filter leaves it out.
std::vector<double> filtered(std::vector<double> values, double cutoff, Duration interval) {
  if (cutoff > 0.0 && !values.empty()) smooth(std::span(values).subspan(1), cutoff, interval);
  return values;
}

struct Rest {
  double squares = 0.0;       // of all connections
  double largest_left = 0.0;  // of the signal
};

Rest rest_of(const std::vector<SignalAndNoise>& wires, double cutoff, std::span<const Duration> intervals) {
  Rest rest;
  for (std::size_t w = 0; w < wires.size(); ++w) {
    const auto signal = filtered(wires[w].signal, cutoff, intervals[w]);
    const auto noise = filtered(wires[w].noise, cutoff, intervals[w]);
    double squares = 0.0;
    for (std::size_t k = 0; k < signal.size(); ++k) {
      const double left = wires[w].signal[k] - signal[k];
      squares += left * left + noise[k] * noise[k];
      rest.largest_left = std::max(rest.largest_left, std::abs(left));
    }
    rest.squares += squares / static_cast<double>(std::max<std::size_t>(1, signal.size()));
  }
  return rest;
}

}  // namespace

std::optional<double> measured_gamma(const WireErrors& before, const WireErrors& now) {
  if (before.size() != now.size() || now.empty()) return std::nullopt;
  std::array<double, kFrequencies> then{}, here{};
  for (std::size_t w = 0; w < now.size(); ++w) {
    const std::size_t count = now[w].size();
    if (count < 4 || before[w].size() != count) return std::nullopt;
    const double lowest = 2.0 * std::numbers::pi / static_cast<double>(count);
    for (int i = 0; i < kFrequencies; ++i) {
      const double angle = lowest * std::pow(std::numbers::pi / lowest, i / (kFrequencies - 1.0));
      then[static_cast<std::size_t>(i)] += std::pow(amplitude(before[w], angle), 2);
      here[static_cast<std::size_t>(i)] += std::pow(amplitude(now[w], angle), 2);
    }
  }
  const double floor = std::pow(kShareOfSpectrum, 2) * *std::max_element(then.begin(), then.end());
  double largest = 0.0;
  for (std::size_t i = 0; i < then.size(); ++i) {
    if (then[i] > floor && then[i] > 0.0) largest = std::max(largest, std::sqrt(here[i] / then[i]));
  }
  if (!std::isfinite(largest)) return std::nullopt;
  return largest;
}

double cutoff_against_noise(const WireErrors& once, const WireErrors& again, std::span<const Duration> intervals) {
  if (once.size() != again.size() || once.empty()) return 0.0;
  std::vector<SignalAndNoise> wires;
  double longest = 0.0;
  Duration shortest = intervals[0];
  double largest_noise = 0.0;
  for (std::size_t w = 0; w < once.size(); ++w) {
    if (once[w].size() != again[w].size()) return 0.0;
    wires.push_back(separated(once[w], again[w]));
    longest = std::max(longest, intervals[w] * static_cast<double>(once[w].size()));
    shortest = std::min(shortest, intervals[w]);
    for (const double noise : wires[w].noise) largest_noise = std::max(largest_noise, std::abs(noise));
  }
  if (!(largest_noise > 0.0) || !(longest > 0.0)) return 0.0;
  double least = kWorthFiltering * rest_of(wires, 0.0, intervals).squares;
  double best = 0.0;
  for (double cutoff = 0.5 / shortest; cutoff > 1.0 / longest; cutoff /= kCutoffRatio) {
    const Rest rest = rest_of(wires, cutoff, intervals);
    if (rest.largest_left > kMostLeft * largest_noise) break;  // a lower one leaves more
    if (rest.squares < least) {
      least = rest.squares;
      best = cutoff;
    }
  }
  return best;
}

double forgetting_against_noise(double repeatability, double first_error) {
  if (!(repeatability > 0.0) || !(first_error > 0.0)) return 0.0;
  return std::min(kMostForgotten, kForgottenNoise * repeatability / first_error);
}

}  // namespace entrain::learning
