#include "report/packed_signals.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "read/thinning.hpp"

namespace entrain::reporting {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kFewestPerSignal = 400;  // samples
constexpr std::size_t kBytesOfSample = 2 * sizeof(double);
constexpr std::size_t kWords = 300;  // characters around the numbers of a signal, about

static_assert(std::endian::native == std::endian::little, "the page reads little-endian numbers");

std::string base64(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8U | (k < count ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[group >> (18U - 6U * k) & 63U] : '=';
  }
  return text;
}

std::string packed_numbers(std::span<const double> numbers, bool as_floats) {
  if (!as_floats) return base64(std::as_bytes(numbers));
  const std::vector<float> floats(numbers.begin(), numbers.end());
  return base64(std::as_bytes(std::span(floats)));
}

std::vector<double> taken(std::span<const double> numbers, const std::vector<std::size_t>& places) {
  std::vector<double> result;
  result.reserve(places.size());
  for (const auto place : places) result.push_back(numbers[place]);
  return result;
}

/// Differences are drawn on a logarithmic axis; there their course is followed. Zero has no place on it: it lies below
/// all others.
std::vector<double> as_drawn(const std::vector<double>& differences) {
  double least = std::numeric_limits<double>::infinity();
  for (const double value : differences) {
    if (value != 0.0) least = std::min(least, std::abs(value));
  }
  std::vector<double> heights;
  heights.reserve(differences.size());
  for (const double value : differences) heights.push_back(std::log10(value != 0.0 ? std::abs(value) : 0.1 * least));
  return heights;
}

class Packer {
 public:
  Packer(const std::vector<DrawnSignal>& signals, std::size_t room)
      : drawn_(whole_variables(signals, room)), signals_(signals) {
    const std::size_t words = drawn_ * kWords;
    const std::size_t most_bytes = (room > words ? room - words : 0) / 4 * 3;
    std::size_t fits = kFewestPerSignal;
    std::size_t does_not = 1;
    for (std::size_t i = 0; i < drawn_; ++i) does_not = std::max(does_not, axis_of(signals[i]).size() + 1);
    while (fits + 1 < does_not) {
      const std::size_t middle = fits + (does_not - fits) / 2;
      (bytes_of_all(middle) <= most_bytes ? fits : does_not) = middle;
    }
    most_per_signal_ = fits;
  }

  Json packed() {
    for (std::size_t i = 0; i < drawn_; ++i) add(signals_[i]);
    return {{"samples", samples_},
            {"drawn", most_drawn_},
            {"left_out", signals_.size() - drawn_},
            {"axes", std::move(axes_)},
            {"signals", std::move(packed_)}};
  }

 private:
  static const std::string& name_of(const DrawnSignal& signal) { return signal.results->columns[signal.column].name; }

  /// How many can be drawn, without leaving out some curves of a variable and showing others.
  static std::size_t whole_variables(const std::vector<DrawnSignal>& signals, std::size_t room) {
    const std::size_t most = std::max<std::size_t>(1, room / (kFewestPerSignal * kBytesOfSample / 3 * 4 + kWords));
    if (signals.size() <= most) return signals.size();
    std::size_t drawn = most;
    while (drawn > 0 && name_of(signals[drawn]) == name_of(signals[drawn - 1])) --drawn;
    return drawn > 0 ? drawn : most;
  }

  static const std::vector<double>& axis_of(const DrawnSignal& signal) {
    return signal.results->axes[signal.results->columns[signal.column].axis];
  }

  /// With so many samples of each signal at most. What is drawn whole shares its axis.
  std::size_t bytes_of_all(std::size_t most) const {
    std::size_t bytes = 0;
    std::set<const void*> shared;
    for (std::size_t i = 0; i < drawn_; ++i) {
      const auto& axis = axis_of(signals_[i]);
      const bool own_axis = axis.size() > most || shared.insert(&axis).second;
      bytes +=
          std::min(axis.size(), most) * (signals_[i].difference ? sizeof(float) : sizeof(double)) * (own_axis ? 2 : 1);
    }
    return bytes;
  }

  void add(const DrawnSignal& signal) {
    const auto& times = axis_of(signal);
    const auto& column = signal.results->columns[signal.column];
    const bool whole = times.size() <= most_per_signal_;
    const auto places = whole               ? std::vector<std::size_t>{}
                        : signal.difference ? reading::drawn_samples(times, as_drawn(column.values), most_per_signal_)
                                            : reading::drawn_samples(times, column.values, most_per_signal_);
    const auto values = whole ? column.values : taken(column.values, places);
    Json entry{
        {"name", column.name},
        {"unit", column.unit},
        {"description", column.description},
        {"axis", whole ? shared_axis(times, signal.difference) : new_axis(taken(times, places), signal.difference)},
        {"values", packed_numbers(values, signal.difference)}};
    if (signal.run) entry["run"] = *signal.run;
    if (signal.difference) entry["difference"] = true;
    samples_ = std::max({samples_, times.size(), signal.samples});
    most_drawn_ = std::max(most_drawn_, values.size());
    packed_.push_back(std::move(entry));
  }

  std::size_t new_axis(std::span<const double> times, bool as_floats) {
    axes_.push_back(packed_numbers(times, as_floats));
    return axes_.size() - 1;
  }
  std::size_t shared_axis(const std::vector<double>& times, bool as_floats) {
    const auto [entry, is_new] = shared_.emplace(std::pair(&times, as_floats), axes_.size());
    return is_new ? new_axis(times, as_floats) : entry->second;
  }

  std::size_t drawn_;
  const std::vector<DrawnSignal>& signals_;
  std::size_t most_per_signal_ = 0;
  std::size_t samples_ = 0;
  std::size_t most_drawn_ = 0;
  Json axes_ = Json::array();
  Json packed_ = Json::array();
  std::map<std::pair<const void*, bool>, std::size_t> shared_;
};

}  // namespace

Json packed_signals(const std::vector<DrawnSignal>& signals, std::size_t room) {
  return Packer(signals, room).packed();
}

}  // namespace entrain::reporting
