#include "report/packed_signals.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "results/thinning.hpp"

namespace entrain {
namespace {

using Json = nlohmann::ordered_json;

// 10.7 characters each in base64; with the page itself and the steps less than 2 MB.
constexpr std::size_t kMostNumbers = 120'000;
constexpr std::size_t kFewestPerSignal = 400;

static_assert(std::endian::native == std::endian::little, "the page reads little-endian doubles");

std::string base64(std::span<const double> numbers) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto bytes = std::as_bytes(numbers);
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

std::vector<double> taken(std::span<const double> numbers, const std::vector<std::size_t>& places) {
  std::vector<double> result;
  result.reserve(places.size());
  for (const auto place : places) result.push_back(numbers[place]);
  return result;
}

class Packer {
 public:
  explicit Packer(const std::vector<DrawnSignal>& signals) : drawn_(whole_variables(signals)), signals_(signals) {
    std::size_t numbers = 0;
    std::map<const void*, bool> counted;
    for (std::size_t i = 0; i < drawn_; ++i) {
      const auto& axis = axis_of(signals[i]);
      numbers += axis.size() * (counted.emplace(&axis, true).second ? 2 : 1);
    }
    if (numbers > kMostNumbers) most_per_signal_ = kMostNumbers / 2 / drawn_;
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
  static std::size_t whole_variables(const std::vector<DrawnSignal>& signals) {
    constexpr std::size_t kMost = kMostNumbers / 2 / kFewestPerSignal;
    if (signals.size() <= kMost) return signals.size();
    std::size_t drawn = kMost;
    while (drawn > 0 && name_of(signals[drawn]) == name_of(signals[drawn - 1])) --drawn;
    return drawn > 0 ? drawn : kMost;
  }

  static const std::vector<double>& axis_of(const DrawnSignal& signal) {
    return signal.results->axes[signal.results->columns[signal.column].axis];
  }

  void add(const DrawnSignal& signal) {
    const auto& times = axis_of(signal);
    const auto& column = signal.results->columns[signal.column];
    const bool whole = times.size() <= most_per_signal_;
    const auto places = whole ? std::vector<std::size_t>{} : drawn_samples(column.values, most_per_signal_);
    Json entry{{"name", column.name},
               {"unit", column.unit},
               {"description", column.description},
               {"axis", whole ? shared_axis(times) : new_axis(taken(times, places))},
               {"values", whole ? base64(column.values) : base64(taken(column.values, places))}};
    if (signal.run) entry["run"] = *signal.run;
    if (signal.difference) entry["difference"] = true;
    samples_ = std::max(samples_, times.size());
    most_drawn_ = std::max(most_drawn_, whole ? times.size() : places.size());
    packed_.push_back(std::move(entry));
  }

  std::size_t new_axis(std::span<const double> times) {
    axes_.push_back(base64(times));
    return axes_.size() - 1;
  }
  std::size_t shared_axis(const std::vector<double>& times) {
    const auto [entry, is_new] = shared_.emplace(&times, axes_.size());
    return is_new ? new_axis(times) : entry->second;
  }

  std::size_t drawn_;
  const std::vector<DrawnSignal>& signals_;
  std::size_t most_per_signal_ = kMostNumbers;
  std::size_t samples_ = 0;
  std::size_t most_drawn_ = 0;
  Json axes_ = Json::array();
  Json packed_ = Json::array();
  std::map<const void*, std::size_t> shared_;
};

}  // namespace

Json packed_signals(const std::vector<DrawnSignal>& signals) {
  return Packer(signals).packed();
}

}  // namespace entrain
