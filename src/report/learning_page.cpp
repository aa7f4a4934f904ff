#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/replace_file.hpp"
#include "entrain/learning.hpp"
#include "report/learned_json.hpp"
#include "report/packed_signals.hpp"
#include "report/page.hpp"

namespace entrain {
namespace {

using Json = nlohmann::ordered_json;

// The runs that the page distinguishes.
constexpr std::size_t kMeant = 0;
constexpr std::size_t kBefore = 1;
constexpr std::size_t kAfter = 2;

constexpr double kDrawnRanges = 3.0;  // a first run that leaves the others by more ranges than this is cut there

/// Curves for the page. Borrowed by `drawn`, so everything is added before the first is drawn.
class Curves {
 public:
  void add(const LearnedCourse& course, const std::vector<double>& values, std::size_t run, bool difference = false) {
    results_.columns.push_back({course.connection, course.unit, "", results_.axes.size(), values});
    results_.axes.push_back(course.times);
    runs_.push_back(run);
    differences_.push_back(difference);
  }

  Json packed(std::size_t room) const {
    std::vector<reporting::DrawnSignal> drawn;
    for (std::size_t i = 0; i < runs_.size(); ++i) drawn.push_back({&results_, i, runs_[i], differences_[i]});
    return reporting::packed_signals(drawn, room);
  }

 private:
  Results results_;
  std::vector<std::size_t> runs_;
  std::vector<bool> differences_;
};

std::vector<double> error_of(const LearnedCourse& course) {
  std::vector<double> error(course.times.size());
  for (std::size_t k = 0; k < error.size(); ++k) error[k] = course.meant[k] - course.received[k];
  return error;
}

/// An unstable first run would hide the others: it is drawn until it leaves them.
std::size_t drawn_of(const std::vector<double>& values, const std::vector<double>& others) {
  if (others.empty()) return values.size();
  const auto [least, most] = std::minmax_element(others.begin(), others.end());
  const double room = kDrawnRanges * (*most - *least);
  const double low = *least - room;
  const double high = *most + room;
  const auto left =
      std::find_if(values.begin(), values.end(), [&](double value) { return !(value >= low && value <= high); });
  return static_cast<std::size_t>(left - values.begin());
}

std::vector<double> cut(std::vector<double> values, std::size_t drawn) {
  std::fill(values.begin() + static_cast<std::ptrdiff_t>(drawn), values.end(),
            std::numeric_limits<double>::quiet_NaN());
  return values;
}

Json packed_courses(const LearnResult& result, std::size_t room) {
  Curves curves;
  for (std::size_t i = 0; i < result.after.size(); ++i) {
    const LearnedCourse& before = result.before[i];
    const LearnedCourse& after = result.after[i];
    curves.add(after, after.meant, kMeant);
    if (result.best > 0) {
      const std::size_t drawn = drawn_of(before.received, after.meant);
      curves.add(before, cut(before.received, drawn), kBefore);
      curves.add(before, cut(error_of(before), drawn), kBefore, true);
    }
    curves.add(after, after.received, kAfter);
    curves.add(after, error_of(after), kAfter, true);
  }
  return curves.packed(room);
}

}  // namespace

void write_learning_page(const LearnResult& result, const LearnOptions& options, const std::filesystem::path& file) {
  Json data = reporting::learn_result_data(result);
  const Learned& learned = result.learned;
  data["kind"] = "learning";
  data["title"] = learned.system;
  data["tolerance"] = options.tolerance;
  data["labels"] = {"what it should be", "run 0, without correction", fmt::format("run {}, learned", result.best)};
  data["span"] = {learned.start, learned.start + static_cast<double>(learned.steps) * learned.step};
  data["results"] = packed_courses(result, reporting::room_in_page(data));
  base::replace_file(file, reporting::page_with(data));
}

}  // namespace entrain
