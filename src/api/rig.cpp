#include "entrain/rig.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <random>

#include "assembly/assembly.hpp"
#include "assembly/subsystem_factory.hpp"
#include "base/grid.hpp"
#include "base/suggest.hpp"
#include "description/subsystem_keys.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/subsystem.hpp"
#include "entrain/system.hpp"
#include "outside/datagram.hpp"
#include "outside/link.hpp"
#include "outside/sequence.hpp"

namespace entrain {
namespace {

bool has_stand_in(const SubsystemDescription& subsystem) {
  return !(subsystem.model.empty() && subsystem.fmu.empty() && subsystem.csv.empty());
}

Error rig_error(FactCode code, const std::string& subsystem, std::string remedy) {
  return {ErrorCode::InvalidSystem,
          {code, {subsystem}},
          {.subsystem = {}, .variable = {}, .time = {}, .remedy = std::move(remedy)}};
}

SubsystemDescription without_outside(SubsystemDescription subsystem) {
  subsystem.udp.reset();
  subsystem.shm.reset();
  return subsystem;
}

/// What acts on the plant: the inputs of the run, later and slower.
class Actuator {
 public:
  Actuator(const RigOptions& options, std::size_t inputs)
      : delay_(options.actuator_delay), lag_(options.actuator_lag), wanted_(inputs), state_(inputs), mean_(inputs) {}

  void begin(Time t, std::span<const double> inputs) {
    waiting_.clear();
    waiting_.push_back({t - delay_, {inputs.begin(), inputs.end()}});
    wanted_ = waiting_.front().values;
    state_ = wanted_;
  }
  void take(Time t, std::span<const double> inputs) { waiting_.push_back({t, {inputs.begin(), inputs.end()}}); }
  /// The first change after `t`, at most `end`.
  Time next_change(Time t, Time end) const {
    for (const auto& entry : waiting_) {
      if (entry.time + delay_ > t && entry.time + delay_ < end && !base::same_time(entry.time + delay_, t) &&
          !base::same_time(entry.time + delay_, end))
        return entry.time + delay_;
    }
    return end;
  }
  /// What the plant gets from `t` on, for `size`, in the mean.
  std::span<const double> over(Time t, Duration size) {
    while (!waiting_.empty() && base::reached(t, waiting_.front().time + delay_)) {
      wanted_ = std::move(waiting_.front().values);
      waiting_.pop_front();
    }
    if (lag_ == 0.0 || size == 0.0) return wanted_;
    const double decay = std::exp(-size / lag_);
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      const double distance = state_[i] - wanted_[i];
      mean_[i] = wanted_[i] + distance * (1.0 - decay) * lag_ / size;
      state_[i] = wanted_[i] + distance * decay;
    }
    return mean_;
  }

 private:
  struct Entry {
    Time time;
    std::vector<double> values;
  };
  Duration delay_, lag_;
  std::deque<Entry> waiting_;
  std::vector<double> wanted_, state_, mean_;
};

/// The plant of one run.
class Plant {
 public:
  Plant(std::unique_ptr<Subsystem> subsystem, const RigOptions& options)
      : subsystem_(std::move(subsystem)),
        inputs_(subsystem_->variables().inputs.size()),
        outputs_(subsystem_->variables().outputs.size()),
        actuator_(options, inputs_.size()),
        splits_(!subsystem_->capabilities().imposed_step) {}

  std::size_t input_count() const { return inputs_.size(); }
  const std::vector<double>& outputs() const { return outputs_; }
  std::vector<double>& inputs() { return inputs_; }
  Time time() const { return time_; }

  void begin(Time start, Time stop) {
    if (!initialized_) subsystem_->initialize(start, stop);
    initialized_ = true;
    time_ = start;
    actuator_.begin(start, inputs_);
    subsystem_->evaluate(actuator_.over(start, 0.0), outputs_);
  }
  /// With `inputs()` from `from` on. Inputs that never came are those before them.
  void advance(Time from, Duration size) {
    if (from > time_ && !base::same_time(from, time_)) step(time_, from - time_);
    actuator_.take(from, inputs_);
    step(from, size);
  }

 private:
  void step(Time from, Duration size) {
    const Time end = from + size;
    Time t = from;
    while (splits_ && actuator_.next_change(t, end) < end) {
      const Time change = actuator_.next_change(t, end);
      make(t, change - t);
      t = change;
    }
    make(t, t == from ? size : end - t);
    time_ = end;
  }
  void make(Time from, Duration size) {
    const auto held = actuator_.over(from, size);
    const Time end = from + size;
    for (StepReport report{from, StepOutcome::EndedEarly}; report.outcome == StepOutcome::EndedEarly;) {
      const bool first = report.reached == from;
      const Time t = report.reached;
      report = subsystem_->step({t, first ? size : end - t, InputBlock(held.data(), held.size(), 0)}, outputs_);
      if (report.outcome == StepOutcome::Rejected) {
        throw Error(ErrorCode::SubsystemFailed,
                    {FactCode::StepRejected, {std::string(subsystem_->name())}, {{"step", size, "s"}}},
                    {.subsystem = std::string(subsystem_->name()), .variable = {}, .time = t, .remedy = {}});
      }
      if (base::reached(report.reached, end)) break;
    }
  }

  std::unique_ptr<Subsystem> subsystem_;
  std::vector<double> inputs_, outputs_;
  Actuator actuator_;
  bool splits_;
  bool initialized_ = false;
  Time time_ = 0.0;
};

class Rig {
 public:
  Rig(const SystemDescription& description, const SubsystemDescription& subsystem, const RigOptions& options,
      const Extensions& extensions)
      : options_(options), extensions_(extensions), random_(options.seed) {
    alone_ = resolved(description, extensions);
    alone_.connections.clear();
    alone_.bonds.reset();
    alone_.constraints.clear();
    alone_.schedule.clear();
    alone_.scenario.clear();
    const auto found = std::find_if(alone_.subsystems.begin(), alone_.subsystems.end(),
                                    [&](const auto& of) { return of.name == subsystem.name; });
    alone_.subsystems = {without_outside(*found)};
    link_ = outside::open_link(description::outside_of(subsystem).value, outside::LinkEnd::Rig);
    if (options_.listening) options_.listening(link_->address());
  }

  RigReport play() {
    std::int64_t heard = outside::instant_now();
    while (!is_over(heard)) {
      constexpr Duration kLook = 0.02;
      std::int64_t until = outside::instant_after(outside::instant_now(), kLook);
      if (!waiting_.empty()) until = std::min(until, waiting_.front().due);
      const auto bytes = link_->receive(until);
      if (!bytes.empty()) {
        heard = outside::instant_now();
        take(bytes, heard);
      }
      send_due();
    }
    report_.gaps += arrived_.missing();
    return std::move(report_);
  }

 private:
  struct Answer {
    std::int64_t due;
    std::vector<std::byte> bytes;
  };

  bool is_over(std::int64_t heard) const {
    if (options_.interrupt != nullptr && options_.interrupt->load()) return true;
    if (options_.runs > 0 && report_.runs >= options_.runs && waiting_.empty()) return true;
    return options_.patience && outside::instant_now() > outside::instant_after(heard, *options_.patience);
  }

  void take(std::span<const std::byte> bytes, std::int64_t now) {
    using outside::DatagramKind;
    const auto datagram = outside::parse_datagram(bytes);
    if (!datagram || datagram->head.kind == DatagramKind::Ready || datagram->head.kind == DatagramKind::Outputs) {
      ++report_.invalid;
      return;
    }
    const auto& head = datagram->head;
    if (head.kind == DatagramKind::Begin) return begin(*datagram);
    if (!plant_ || head.run != run_) {
      ++report_.invalid;
      return;
    }
    if (head.kind == DatagramKind::End) {
      ++report_.received;
      arrived_.take(head.sequence);
      ++report_.runs;
      plant_.reset();
      return;
    }
    step(*datagram, now);
  }

  void begin(const outside::Datagram& datagram) {
    const auto& head = datagram.head;
    if (!plant_ || head.run != run_) {
      report_.gaps += arrived_.missing();
      arrived_ = {};
      sequence_ = 0;
      run_ = head.run;
      plant_ = std::make_unique<Plant>(make_subsystem(), options_);
    }
    ++report_.received;
    arrived_.take(head.sequence);
    std::vector<double> outputs;  // none: the other side expects other ports
    if (head.count == plant_->input_count()) {
      datagram.read(plant_->inputs());
      const Time stop = alone_.stop ? alone_.stop->value : head.time + 1.0;
      plant_->begin(head.time, std::max(stop, head.time));
      outputs = plant_->outputs();
    }
    answer(outside::DatagramKind::Ready, head, head.time, outputs, false);
  }

  void step(const outside::Datagram& datagram, std::int64_t now) {
    const auto& head = datagram.head;
    if (head.count != plant_->input_count() || !(head.step > 0.0)) {
      ++report_.invalid;
      return;
    }
    ++report_.received;
    arrived_.take(head.sequence);
    if (options_.keeps_arrivals) {
      if (report_.arrivals.empty()) first_arrival_ = now;
      report_.arrivals.push_back(static_cast<double>(now - first_arrival_) * 1e-9);
    }
    if (head.time < plant_->time() && !base::same_time(head.time, plant_->time())) {
      ++report_.old;
      return;
    }
    const bool before = options_.answer == RigAnswer::Begin;
    if (before) answer(outside::DatagramKind::Outputs, head, plant_->time(), plant_->outputs(), true);
    datagram.read(plant_->inputs());
    plant_->advance(head.time, head.step);
    if (!before) answer(outside::DatagramKind::Outputs, head, plant_->time(), plant_->outputs(), true);
  }

  /// What is lost on purpose has a number, too: the run sees that it is missing.
  void answer(outside::DatagramKind kind, const outside::DatagramHead& asked, Time time,
              const std::vector<double>& values, bool disturbed) {
    outside::DatagramHead head;
    head.kind = kind;
    head.sequence = ++sequence_;
    head.answers = asked.sequence;
    head.run = run_;
    head.time = time;
    std::vector<std::byte> bytes(sizeof(head) + values.size() * sizeof(double));
    outside::write_datagram(head, values, bytes);
    if (!disturbed) {  // however often it is asked for, what happens to the steps stays the same
      queue({outside::instant_now(), std::move(bytes)});
      send_due();
      return;
    }
    std::uniform_real_distribution<double> share(0.0, 1.0);
    const double lost = share(random_);
    const double twice = share(random_);
    const Duration later = options_.delay + options_.jitter * share(random_);
    if (lost < options_.loss) {
      ++report_.withheld;
      return;
    }
    const std::int64_t due = outside::instant_after(outside::instant_now(), later);
    if (twice < options_.doubled) queue({due, bytes});
    queue({due, std::move(bytes)});
    send_due();
  }

  void queue(Answer answer) {
    const auto place = std::upper_bound(waiting_.begin(), waiting_.end(), answer.due,
                                        [](std::int64_t due, const Answer& other) { return due < other.due; });
    waiting_.insert(place, std::move(answer));
  }

  void send_due() {
    while (!waiting_.empty() && waiting_.front().due <= outside::instant_now()) {
      if (link_->send(waiting_.front().bytes)) ++report_.sent;
      waiting_.pop_front();
    }
  }

  /// Inputs arrive with the first datagram: none needs a start value.
  std::unique_ptr<Subsystem> make_subsystem() const {
    SystemDescription description = alone_;
    const assembly::MakerOptions making;
    std::vector<Problem> problems;
    const auto maker = assembly::subsystem_maker(description, making, extensions_, {});
    if (const auto look = maker(description.subsystems.front(), {}, problems)) {
      for (const auto& input : look->variables().inputs) {
        description.subsystems.front().start.insert({input.name, {Value(0.0), {}}});
      }
    }
    problems.clear();
    auto assembly = assembly::assemble(description, maker, problems);
    const bool wrong = std::any_of(problems.begin(), problems.end(),
                                   [](const Problem& problem) { return problem.severity == Problem::Severity::Error; });
    if (wrong || assembly.subsystems.empty()) throw Error(std::move(problems));
    return std::move(assembly.subsystems.front());
  }

  const RigOptions& options_;
  const Extensions& extensions_;
  SystemDescription alone_;  ///< the subsystem, and nothing else
  std::unique_ptr<outside::Link> link_;
  std::unique_ptr<Plant> plant_;
  std::uint64_t run_ = 0;
  std::uint64_t sequence_ = 0;
  outside::SequenceCounter arrived_;
  std::deque<Answer> waiting_;  ///< by the time when they are due
  std::mt19937_64 random_;
  std::int64_t first_arrival_ = 0;
  RigReport report_;
};

}  // namespace

RigReport play_rig(const SystemDescription& description, const std::string& subsystem, const RigOptions& options,
                   const Extensions& extensions) {
  std::vector<std::string> names;
  for (const auto& each : description.subsystems) {
    names.push_back(each.name);
    if (each.name != subsystem) continue;
    if (!description::is_outside(each)) {
      throw rig_error(FactCode::RigNotOutside, subsystem, "Write udp = { ... } or shm = { ... } to the subsystem");
    }
    if (!has_stand_in(each)) {
      throw rig_error(FactCode::RigNoStandIn, subsystem, "Write model, fmu or csv to the subsystem");
    }
    return Rig(description, each, options, extensions).play();
  }
  throw Error(ErrorCode::InvalidSystem, {FactCode::UnknownSubsystem, {subsystem, description.name}},
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = suggestion(subsystem, names)});
}

SystemDescription with_stand_ins(SystemDescription description) {
  for (auto& subsystem : description.subsystems) {
    if (!description::is_outside(subsystem)) continue;
    if (!has_stand_in(subsystem)) {
      throw rig_error(FactCode::RigNoStandIn, subsystem.name, "Write model, fmu or csv to the subsystem");
    }
    if (!subsystem.step) subsystem.step = description::outside_of(subsystem).value.step;
    subsystem = without_outside(std::move(subsystem));
  }
  return description;
}

}  // namespace entrain
