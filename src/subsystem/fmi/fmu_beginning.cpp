
#include <algorithm>

#include "base/values.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/fmi/fmi_text.hpp"
#include "subsystem/fmi/fmu.hpp"

namespace entrain::subsystem {
namespace {

/// The values of one variable, all its elements: an array can be set as a whole only.
struct WholeStart {
  std::size_t variable;
  std::vector<Value> values;
};

class Beginning {
 public:
  Beginning(FmuInstance& instance, const FmuBeginning& how, FmuLog& log, const std::string& subsystem)
      : instance_(instance), how_(how), log_(log), subsystem_(subsystem) {
    for (const auto& start : how.starts) add(start);
  }

  void run() {
    configure();
    require(instance_.set_up(how_.experiment));
    // Some FMUs take parameters back to their defaults on entering the initialization mode: set before and in it.
    set_starts(false);
    require(instance_.enter_initialization());
    if (how_.description.version == FmiVersion::One) return;  // it has no such mode, and nothing can be read yet
    set_starts(true);
    for (const auto& start : starts_) verify(start);
  }

 private:
  const FmuVariable& variable_of(const WholeStart& start) const { return how_.description.variables[start.variable]; }
  bool is_structural(const WholeStart& start) const {
    return variable_of(start).causality == FmuCausality::StructuralParameter;
  }

  void require(const FmuResult& result, const std::string& variable = {}) {
    require_done(result, log_,
                 {.subsystem = subsystem_, .variable = variable, .time = how_.experiment.start, .remedy = {}});
  }

  void add(const FmuStart& start) {
    auto known = std::find_if(starts_.begin(), starts_.end(),
                              [&](const WholeStart& whole) { return whole.variable == start.origin.variable; });
    if (known == starts_.end()) known = starts_.insert(starts_.end(), initial_elements(start.origin.variable));
    known->values[start.origin.element] = start.value;
  }

  /// The values in the description for elements that the user does not set.
  WholeStart initial_elements(std::size_t index) const {
    const auto& variable = how_.description.variables[index];
    const std::size_t count = how_.ports.elements[index];
    WholeStart whole{index, std::vector<Value>(count)};
    if (variable.dimensions.empty()) return whole;
    const auto is_given = [&](std::size_t element) {
      return std::any_of(how_.starts.begin(), how_.starts.end(), [&](const FmuStart& start) {
        return start.origin == PortOrigin{index, element};
      });
    };
    for (std::size_t element = 0; element < count; ++element) {
      const Value* start = start_of(variable, element);
      if (start != nullptr) whole.values[element] = *start;
      if (start != nullptr || is_given(element)) continue;
      throw Error(ErrorCode::InvalidSystem, {FactCode::FmuStartsMissing, {variable.name}, {{"elements", count}}},
                  {.subsystem = subsystem_, .variable = {}, .time = {}, .remedy = "Give all of them"});
    }
    return whole;
  }

  void configure() {
    if (std::none_of(starts_.begin(), starts_.end(), [&](const auto& start) { return is_structural(start); })) return;
    require(instance_.enter_configuration());
    for (const auto& start : starts_) {
      if (is_structural(start)) set(start);
    }
    require(instance_.exit_configuration());
  }

  void set(const WholeStart& start) {
    require(instance_.set_values(variable_of(start), start.values), variable_of(start).name);
  }

  void set_starts(bool in_initialization) {
    for (const auto& start : starts_) {
      if (is_structural(start)) continue;
      if (in_initialization && variable_of(start).initial == FmuInitial::Approximate) continue;
      set(start);
    }
  }

  /// What was set must be there, where the FMU lets it be read. (An approximate value is its to change.)
  void verify(const WholeStart& start) {
    const auto& variable = variable_of(start);
    std::vector<Value> arrived = start.values;
    if (variable.initial == FmuInitial::Approximate || !read(variable, arrived)) return;
    for (std::size_t i = 0; i < arrived.size(); ++i) {
      if (arrived[i] == as_stored(variable, start.values[i])) continue;
      Fact fact{FactCode::FmuStartNotTaken,
                {variable.name},
                {{"set", value_text(start.values[i])}, {"read", value_text(arrived[i])}}};
      if (arrived.size() > 1) fact.values.emplace_back("element", i + 1);
      throw Error(ErrorCode::InvalidSystem, std::move(fact),
                  {.subsystem = subsystem_,
                   .variable = variable.name,
                   .time = how_.experiment.start,
                   .remedy = "The FMU ignores or changes it: leave it out, or give a value that the FMU takes"});
    }
  }

  bool read(const FmuVariable& variable, std::vector<Value>& values) {
    try {
      if (instance_.get_values(variable, values).done()) return true;
    } catch (const Error&) {  // the function is not in the library
    }
    log_.take_text();  // what it logs about our question is no fault of the user's
    return false;
  }

  static Value as_stored(const FmuVariable& variable, const Value& value) {
    if (variable.type != FmuType::Float32) return value;
    return static_cast<double>(static_cast<float>(std::get<double>(value)));
  }

  FmuInstance& instance_;
  const FmuBeginning& how_;
  FmuLog& log_;
  const std::string& subsystem_;
  std::vector<WholeStart> starts_;
};

}  // namespace

void begin_initialization(FmuInstance& instance, const FmuBeginning& beginning, FmuLog& log,
                          const std::string& subsystem) {
  Beginning(instance, beginning, log, subsystem).run();
}

}  // namespace entrain::subsystem
