#pragma once

#include <map>
#include <optional>
#include <string>

#include "advise/candidates.hpp"
#include "advise/short_runs.hpp"

namespace entrain::advising {

/// Runs over so small a part of a system's time that they cost an automatic choice next to nothing: at most a
/// fiftieth of the calls of the run each. With too few macro steps there is no answer.
class BriefCheck {
 public:
  /// `description` is resolved; it, and `extensions`, are borrowed. `ranges` as those of ShortRuns.
  BriefCheck(const SystemDescription& description, const Extensions& extensions,
             std::map<std::string, double> ranges = {});

  Duration length() const;
  /// What half the step changes, relative to the range of the worst output.
  std::optional<double> error(const MethodConfig& config);
  /// Whether `other` is as near to `plain` at half the step as that is at the whole step: if `other` is the better
  /// method, it is.
  std::optional<bool> agree(const MethodConfig& plain, const MethodConfig& other);

 private:
  bool refine(const MethodConfig& config);

  const SystemDescription& description_;
  std::optional<ShortRuns> runs_;
};

}  // namespace entrain::advising
