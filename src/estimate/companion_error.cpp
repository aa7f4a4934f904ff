#include "estimate/companion_error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimate/jump_matching.hpp"

namespace entrain::estimate {
namespace {

// Below, relative to the magnitude, rounding decides and there is no order.
constexpr double kRounding = 1e-11;
// An error below is not worth another run: inner solvers decide it.
constexpr double kTiny = 1e-7;
// The same where the formal order is low: the undivided difference is at most three times the error there.
constexpr double kSmall = 1e-4;
constexpr double kLowOrder = 2.0;
// An order below a half is none of a coupling's.
constexpr double kLeastOrder = 0.5;
// Of the range: a larger difference is no small quantity any more, and its order means nothing.
constexpr double kLargeDifference = 0.1;
// Of the formal order: from here on an observed one confirms it, and below the other it is doubtful: the error could as
// well be far smaller, and a smaller step shows it.
constexpr double kConfirms = 0.9;
constexpr double kDoubtful = 0.75;
constexpr double kDoubtfulError = 1e-5;  // below, it may stay so
constexpr double kSafetyConfirmed = 1.25;
constexpr double kSafety = 3.0;
// Of the square of the error: what parts of the run may contribute before their differences are looked at again.
constexpr double kMatters = 0.1;
constexpr double kMost = 0.5;
constexpr std::size_t kMostParts = 16;
constexpr std::size_t kRowsPerPart = 4;
// Ranges that differ by more are of different motions.
constexpr double kRangesAgree = 2.0;
// Of the mean square of the difference: beyond, where the steps lie decides the error, and not how long they are.
constexpr double kPlaceDecides = 0.1;

/// A time at which the run and the nearest other one communicate.
struct ComparedRow {
  Time t = 0.0;
  Duration weight = 0.0;
  double near = 0.0;    // difference of the two, in units of the range; the mean, where there are two of this step
  double place = 0.0;   // half the difference of these two: jumps lie elsewhere in their steps
  double next = 0.0;    // the other difference of the three runs
  bool common = false;  // of all three
  std::size_t index = 0;
  bool at_jump = false;  // one run is behind a jump, the other is not
};

/// PartOfRun of the run: mean squares of the differences.
struct PartOfRun {
  double near = 0.0;
  double common = 0.0;  // of the nearest difference, at the times of all three runs
  double next = 0.0;
  double place = 0.0;
  Duration duration = 0.0;
};

/// What the differences in a part of the run mean.
struct Meaning {
  double multiple = 1.0;        // the error, in units of the nearest difference
  double bound_multiple = 1.0;  // the bound
  bool sound = true;
  bool converges = true;
  bool doubtful = false;
};

struct Sums {
  double error = 0.0;  // root mean squares
  double bound = 0.0;
  double largest = 0.0;
  double common = 0.0;  // mean squares, as the others
  double next = 0.0;
  double unsound = 0.0;
  double diverging = 0.0;
  double doubtful = 0.0;
  std::vector<double> course = {};
};

class Judge {
 public:
  explicit Judge(const ComparedOutput& output) : output_(output) { choose_courses(); }

  CompanionJudgement judgement() {
    CompanionJudgement result;
    find_size(result);
    collect_rows();
    result.common_times = rows_.size();
    result.shows_jumps = rows_beside_ > rows_.size() / 2;
    if (rows_.size() < 2) return result;
    match_events(result);
    const Time stop = rows_.back().t;
    const Sums whole = sums_until(stop);
    auto& error = result.error;
    error.estimate = EstimateKind::Companion;
    error.range = size_;
    error.course = whole.course;
    error.valid_until = output_.times.back();
    Sums sums = whole;
    if (const auto end = saturation(); end && result.range_ratio <= kRangesAgree) {
      sums = sums_until(*end);
      error.valid_until = *end;
    }
    error.error = sums.error;
    error.bound = sums.bound;
    error.max_error = sums.largest;
    if (courses_ == 3 && sums.common > 0.0 && sums.next > 0.0) {
      error.order = order_of({.near = 0.0, .common = sums.common, .next = sums.next, .place = 0.0, .duration = 1.0});
    }
    result.wants_smaller_step = !finer_ && (leaves_doubt(sums) || leaves_doubt(whole));
    result.converges = !(sums.error > kTiny && sums.diverging > kMost * sums.error * sums.error);
    return result;
  }

 private:
  bool leaves_doubt(const Sums& sums) const {
    const double total = sums.error * sums.error;
    const double least = output_.formal_order > kLowOrder ? kTiny : kSmall;
    return (sums.error > least && sums.unsound > kMatters * total) ||
           (sums.error > kDoubtfulError && sums.doubtful > kMost * total);
  }

  /// Three runs are compared, or two. A smaller step than that of the run says more than a larger one.
  void choose_courses() {
    const auto find = [&](double factor) {
      const auto found =
          std::find_if(output_.courses.begin(), output_.courses.end(),
                       [&](const ComparedCourse& course) { return course.factor == factor && !course.shifted; });
      return found == output_.courses.end() ? nullptr : &*found;
    };
    given_ = find(1.0);
    near_ = find(0.5);
    finer_ = near_ != nullptr;
    next_ = finer_ ? find(2.0) : find(4.0);
    next_from_ = given_;
    next_is_finer_ = false;
    if (!finer_) {
      near_ = find(2.0);
      next_from_ = near_;
    } else if (next_ == nullptr) {
      next_ = find(0.25);
      next_from_ = near_;
      next_is_finer_ = true;
    }
    const auto shifted = std::find_if(output_.courses.begin(), output_.courses.end(),
                                      [](const ComparedCourse& course) { return course.shifted; });
    if (shifted != output_.courses.end()) shifted_ = &*shifted;
    unshifted_ = find(2.0);
    courses_ = 1 + (near_ != nullptr ? 1 : 0) + (near_ != nullptr && next_ != nullptr ? 1 : 0);
  }

  /// The smallest range: a run that grew beyond all measure must not hide itself.
  void find_size(CompanionJudgement& result) {
    if (near_ == nullptr) return;
    const double own = given_->range.span();
    const double other = near_->range.span();
    const double magnitude = std::min(given_->range.magnitude(), near_->range.magnitude());
    const double span = std::min(own, other);
    const double least = std::max(output_.least_range, base::size_floor::kDivisible);
    size_ = span > base::size_floor::kResting * magnitude ? span : magnitude;
    size_ = base::divisible_size(std::max(size_, output_.least_range));
    rounding_ = kRounding * std::max(1.0, magnitude / size_);
    result.nearest_factor = near_->factor;
    const auto moves = [&](double range) { return std::max({range, least, base::size_floor::kResting * magnitude}); };
    result.range_ratio = moves(own) / moves(other);
    if (result.range_ratio < 1.0) result.range_ratio = 1.0 / result.range_ratio;
  }

  void collect_rows() {
    if (near_ == nullptr) return;
    const auto shifted = shifted_differences();
    double place = 0.0;  // that of the row before where the other does not communicate
    for (std::size_t k = 0; k < output_.times.size(); ++k) {
      ComparedRow row{.t = output_.times[k], .near = (given_->values[k] - near_->values[k]) / size_, .index = k};
      if (!std::isfinite(row.near)) continue;
      if (courses_ == 3) row.next = (next_from_->values[k] - next_->values[k]) / size_;
      row.common = courses_ < 3 || std::isfinite(row.next);
      if (!row.common) row.next = 0.0;
      if (const auto beside = difference_beside(shifted, k)) {
        // Of a smaller step that is near the place matters less; by how much is not known.
        const double unshifted = finer_ ? (given_->values[k] - unshifted_->values[k]) / size_ : row.near;
        if (std::isfinite(unshifted)) place = 0.5 * (unshifted - *beside);
        row.place = place;
        if (!finer_) row.near = 0.5 * (row.near + *beside);
        ++rows_beside_;
      }
      rows_.push_back(row);
    }
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      const Time left = k == 0 ? rows_[k].t : rows_[k - 1].t;
      const Time right = k + 1 == rows_.size() ? rows_[k].t : rows_[k + 1].t;
      rows_[k].weight = 0.5 * (right - left);
    }
  }

  /// The differences from the shifted companion; NaN where it did not communicate, or is on the other side of a jump.
  std::vector<double> shifted_differences() const {
    if (shifted_ == nullptr) return {};
    std::vector<double> differences(output_.times.size(), std::numeric_limits<double>::quiet_NaN());
    std::vector<std::size_t> places;
    std::vector<double> own;
    std::vector<double> other;
    for (std::size_t k = 0; k < differences.size(); ++k) {
      if (!std::isfinite(given_->values[k] - shifted_->values[k])) continue;
      places.push_back(k);
      own.push_back(given_->values[k]);
      other.push_back(shifted_->values[k]);
      differences[k] = (own.back() - other.back()) / size_;
    }
    for (const auto& pair : match_jumps(own, other, size_).pairs) {
      for (std::size_t i = pair.first; i < pair.last; ++i) {
        differences[places[i]] = std::numeric_limits<double>::quiet_NaN();
      }
    }
    return differences;
  }

  /// The mean of those one time before and one behind.
  static std::optional<double> difference_beside(const std::vector<double>& differences, std::size_t k) {
    double sum = 0.0;
    double count = 0.0;
    for (std::size_t beside = k == 0 ? 0 : k - 1; beside <= k + 1 && beside < differences.size(); ++beside) {
      if (!std::isfinite(differences[beside])) continue;
      sum += differences[beside];
      count += 1.0;
    }
    return count > 0.0 ? std::optional(sum / count) : std::nullopt;
  }

  static std::vector<double> values_of(const ComparedCourse& course, const std::vector<ComparedRow*>& rows) {
    std::vector<double> values;
    values.reserve(rows.size());
    for (const ComparedRow* row : rows) values.push_back(course.values[row->index]);
    return values;
  }

  /// Jumps that agree to within a common time are no error of the values there: the time of the event has one.
  void match_events(CompanionJudgement& result) {
    std::vector<ComparedRow*> rows;
    for (ComparedRow& row : rows_) rows.push_back(&row);
    const auto matched = match_jumps(values_of(*given_, rows), values_of(*near_, rows), size_);
    result.jumps = matched.pairs.size();
    result.unmatched_jumps = matched.unmatched;
    for (const auto& pair : matched.pairs) {
      if (pair.first == pair.last) continue;
      result.event_time_error = std::max(result.event_time_error, rows[pair.last]->t - rows[pair.first]->t);
    }
    leave_out(matched, rows);
    if (courses_ < 3) return;
    std::erase_if(rows, [](const ComparedRow* row) { return !row->common; });
    leave_out(match_jumps(values_of(*next_from_, rows), values_of(*next_, rows), size_), rows);
  }

  static void leave_out(const MatchedJumps& matched, const std::vector<ComparedRow*>& rows) {
    for (const auto& pair : matched.pairs) {
      const bool within_a_step = pair.last - pair.first <= 1;
      for (std::size_t k = pair.first; k < pair.last; ++k) {
        rows[k]->at_jump = true;
        if (within_a_step) rows[k]->weight = 0.0;
      }
    }
  }

  double order_of(const PartOfRun& part) const {
    const double order = 0.5 * std::log2(part.next / part.common);
    return next_is_finer_ ? -order : order;
  }

  /// Also where one of the differences is rounding.
  double observed_order(const PartOfRun& part) const {
    const double least = rounding_ * rounding_ * part.duration;
    const double beyond = output_.formal_order + 2.0;
    if (part.next <= least) return next_is_finer_ ? beyond : 0.0;
    if (part.common <= least) return next_is_finer_ ? 0.0 : beyond;
    return order_of(part);
  }

  /// The error in units of the nearest difference, e = d / (2^p - 1); of a smaller step d 2^p / (2^p - 1).
  double multiple_for(double order) const {
    const double power = std::exp2(order);
    return (finer_ ? power : 1.0) / (power - 1.0);
  }

  Meaning meaning_of(const PartOfRun& part) const {
    const double least = rounding_ * rounding_;
    if (part.near <= least) return {1.0, kSafety};
    // A jump lies anywhere in a step, and half a step late in the mean. So does it in the mean of the two companions
    // with twice the step, of which one is late by as much as the run.
    if (part.place > kPlaceDecides * part.near) return {1.0, kSafety};
    const double formal = output_.formal_order;
    const bool large = part.near > kLargeDifference * kLargeDifference;
    if (courses_ < 3) {
      const double multiple = large && !finer_ ? 1.0 : multiple_for(formal);
      return {multiple, kSafety * multiple, !large};
    }
    const double order = observed_order(part);
    const bool falls = order >= kLeastOrder;
    const bool plausible = falls && order <= formal + 1.0;
    if (!plausible || large) {
      // The undivided difference; with a smaller step it is nearly the error.
      const double multiple = finer_ ? multiple_for(std::clamp(order, kLeastOrder, formal + 1.0)) : 1.0;
      return {multiple, kSafety * multiple, false, falls};
    }
    const double safety = order >= kConfirms * formal ? kSafetyConfirmed : kSafety;
    return {multiple_for(order), safety * multiple_for(std::min(order, formal)), true, true,
            order < kDoubtful * formal};
  }

  Sums sums_until(Time end) const {
    const Time start = rows_.front().t;
    const auto behind = std::find_if(rows_.begin(), rows_.end(), [&](const ComparedRow& row) { return row.t > end; });
    const auto count = static_cast<std::size_t>(
        std::count_if(rows_.begin(), behind, [](const ComparedRow& row) { return row.common; }));
    std::vector<PartOfRun> parts(std::clamp<std::size_t>(count / kRowsPerPart, 1, kMostParts));
    const auto part_of = [&](const ComparedRow& row) {
      const double share = end > start ? (row.t - start) / (end - start) : 0.0;
      return std::min(parts.size() - 1, static_cast<std::size_t>(share * static_cast<double>(parts.size())));
    };
    for (auto row = rows_.begin(); row != behind; ++row) {
      PartOfRun& part = parts[part_of(*row)];
      part.near += row->weight * std::max(row->near * row->near, row->place * row->place);
      part.place += row->weight * row->place * row->place;
      if (row->common) part.common += row->weight * row->near * row->near;
      part.next += row->weight * row->next * row->next;
      part.duration += row->weight;
    }
    Sums sums;
    std::vector<Meaning> meanings;
    Duration duration = 0.0;
    for (PartOfRun& part : parts) {
      add_part(part, sums, meanings);
      duration += part.duration;
    }
    for (auto row = rows_.begin(); row != behind; ++row) {
      if (row->at_jump) continue;
      const double difference = std::max(std::abs(row->near), std::abs(row->place));
      sums.largest = std::max(sums.largest, meanings[part_of(*row)].multiple * difference);
    }
    const double share = duration > 0.0 ? 1.0 / duration : 0.0;
    sums.error = std::sqrt(share * sums.error);
    sums.bound = std::sqrt(share * sums.bound);
    for (double* sum : {&sums.common, &sums.next, &sums.unsound, &sums.diverging, &sums.doubtful}) *sum *= share;
    return sums;
  }

  void add_part(PartOfRun part, Sums& sums, std::vector<Meaning>& meanings) const {
    sums.common += part.common;
    sums.next += part.next;
    if (part.duration > 0.0) {
      part.near /= part.duration;
      part.place /= part.duration;
    }
    const Meaning& meaning = meanings.emplace_back(meaning_of(part));
    const double square = part.near * meaning.multiple * meaning.multiple * part.duration;
    sums.error += square;
    sums.bound += part.near * meaning.bound_multiple * meaning.bound_multiple * part.duration;
    if (!meaning.sound) sums.unsound += square;
    if (!meaning.converges) sums.diverging += square;
    if (meaning.doubtful) sums.doubtful += square;
    sums.course.push_back(meaning.multiple * std::sqrt(part.near));
  }

  /// From where on the runs have nothing to do with each other, as in chaos or after a drift of the phase: the
  /// difference becomes a large part of the range and stays as large as the motion.
  std::optional<Time> saturation() const {
    constexpr double kSaturated = 0.3;
    constexpr double kOfMotion = 0.5;
    constexpr std::size_t kLeastRows = 8;
    const auto beyond = [&](double size) {
      return std::find_if(rows_.begin(), rows_.end(),
                          [&](const ComparedRow& row) { return std::abs(row.near) > size; });
    };
    const auto saturated = beyond(kSaturated);
    const auto grows = beyond(kLargeDifference);
    if (saturated == rows_.end() || grows - rows_.begin() < static_cast<std::ptrdiff_t>(kLeastRows)) return {};
    double squares = 0.0;
    Duration duration = 0.0;
    for (auto row = saturated; row != rows_.end(); ++row) {
      squares += row->weight * row->near * row->near;
      duration += row->weight;
    }
    const double least = std::max(kLargeDifference, kOfMotion * deviation());
    if (!(squares >= least * least * duration)) return {};
    return (grows - 1)->t;
  }

  /// Root mean square distance of the run from its mean, in units of the range.
  double deviation() const {
    double sum = 0.0;
    double squares = 0.0;
    double count = 0.0;
    for (const double value : given_->values) {
      if (!std::isfinite(value)) continue;
      const double scaled = (value - given_->values.front()) / size_;
      sum += scaled;
      squares += scaled * scaled;
      count += 1.0;
    }
    if (count == 0.0) return 0.0;
    return std::sqrt(std::max(0.0, squares / count - (sum / count) * (sum / count)));
  }

  const ComparedOutput& output_;
  const ComparedCourse* given_ = nullptr;
  const ComparedCourse* near_ = nullptr;
  const ComparedCourse* shifted_ = nullptr;    // with twice the step ...
  const ComparedCourse* unshifted_ = nullptr;  // ... beside this one
  const ComparedCourse* next_ = nullptr;
  const ComparedCourse* next_from_ = nullptr;
  int courses_ = 1;
  bool finer_ = false;          // the nearest run has a smaller step
  bool next_is_finer_ = false;  // so has the third, with a quarter
  double size_ = 1.0;
  double rounding_ = kRounding;
  std::vector<ComparedRow> rows_;
  std::size_t rows_beside_ = 0;  // with a difference from the shifted companion
};

}  // namespace

CompanionJudgement judge_by_companions(const ComparedOutput& output) {
  return Judge(output).judgement();
}

}  // namespace entrain::estimate
