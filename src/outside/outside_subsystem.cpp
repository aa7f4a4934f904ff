#include "outside/outside_subsystem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/run_summary.hpp"
#include "outside/datagram.hpp"
#include "outside/link.hpp"
#include "outside/sequence.hpp"

namespace entrain::outside {
namespace {

constexpr Duration kLookPeriod = 0.05;  // between two looks at a request to end
constexpr Duration kAskAgain = 0.1;     // for the start, until the rig answers

/// Different for every run, so that answers to an earlier one are recognized.
std::uint64_t run_number() {
  std::random_device source;
  return (std::uint64_t{source()} << 32U) | source();
}

class OutsideSubsystem final : public Subsystem, public SplitStep, public Remote {
 public:
  OutsideSubsystem(std::string name, OutsideDescription description, OutsideOptions options)
      : name_(std::move(name)), description_(std::move(description)), options_(std::move(options)) {
    variables_.inputs = options_.inputs;
    variables_.outputs = options_.outputs;
    capabilities_.imposed_step = options_.step;
    capabilities_.feedthrough = Feedthrough(options_.outputs.size(), options_.inputs.size());
    latest_.resize(options_.outputs.size());
    before_.resize(options_.outputs.size());
    buffer_.resize(sizeof(DatagramHead) + sizeof(double) * options_.inputs.size());
  }
  ~OutsideSubsystem() override {
    if (link_) send(DatagramKind::End, time_, 0.0, {});
  }
  OutsideSubsystem(const OutsideSubsystem&) = delete;
  OutsideSubsystem& operator=(const OutsideSubsystem&) = delete;

  std::string_view name() const noexcept override { return name_; }
  const VariableTable& variables() const noexcept override { return variables_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  Facets facets() noexcept override {
    Facets facets;
    facets.split = this;
    facets.remote = this;
    return facets;
  }

  /// Start values of inputs arrive by `evaluate`; it has no others.
  void set_start(VariableTable::Place, const Value&) override {}

  void initialize(Time start, Time) override {
    time_ = start;
    answers_.times.reserve(most_answers_);
    answers_.outputs.reserve(most_answers_ * latest_.size());
    run_ = run_number();
    link_ = open_link(description_, LinkEnd::Run);
  }

  void evaluate(std::span<const double> inputs, std::span<double> outputs) override {
    const std::int64_t began = instant_now();
    const std::int64_t end = instant_after(began, options_.timeout);
    std::int64_t ask = began;
    for (;;) {
      if (instant_now() >= ask) {
        send(DatagramKind::Begin, time_, 0.0, inputs);
        ask = instant_after(instant_now(), kAskAgain);
      }
      if (receive_until(std::min(ask, end), DatagramKind::Ready)) break;
      if (instant_now() >= end) fail_silent();
    }
    silent_since_ = 0;
    std::copy(latest_.begin(), latest_.end(), outputs.begin());
  }

  StepReport step(const Step& step, std::span<double> outputs) override {
    post(step, {});
    return wait(outputs);
  }

  void post(const Step& step, const StepReadings&) override {
    const std::int64_t now = instant_now();
    const std::int64_t timeout = instant_after(0, options_.timeout);
    if (silent_since_ == 0 || now - posted_ > timeout) silent_since_ = now;  // a pause is no silence of the rig
    posted_ = now;
    send(DatagramKind::Step, step.from, step.size, step.inputs.order(0));
    asked_ = sequence_;
    time_ = step.from + step.size;
  }

  StepReport wait(std::span<double> outputs) override {
    fresh_ = false;
    const bool answered = receive_until(instant_after(posted_, options_.wait), DatagramKind::Outputs);
    if (!answered && silent_since_ != 0 && instant_now() - silent_since_ > instant_after(0, options_.timeout)) {
      fail_silent();
    }
    if (!fresh_) ++counters_.held;
    give(outputs);
    return {time_, StepOutcome::Completed};
  }

  void keep_answers(std::size_t steps) override { most_answers_ = steps + 1; }
  Answers answers() override {
    datagrams();  // what has arrived since the last step
    return answers_;
  }

  DatagramCounters datagrams() override {
    while (link_ && !(received_ = link_->receive(0)).empty()) take(received_, DatagramKind::Outputs);
    counters_.lost = arrived_.missing();
    if (link_) counters_.foreign = link_->foreign();
    return counters_;
  }

 private:
  void send(DatagramKind kind, Time time, Duration size, std::span<const double> values) {
    DatagramHead head;
    head.kind = kind;
    head.sequence = ++sequence_;
    head.run = run_;
    head.time = time;
    head.step = size;
    ++counters_.sent;
    link_->send(write_datagram(head, values, buffer_));
  }

  /// Takes what arrives. True when it is the answer: to Begin, or to the step that was posted last.
  bool receive_until(std::int64_t deadline, DatagramKind answer) {
    for (;;) {
      const std::int64_t look = std::min(deadline, instant_after(instant_now(), kLookPeriod));
      received_ = link_->receive(look);
      if (!received_.empty()) {
        if (take(received_, answer)) return true;
        continue;
      }
      if (options_.interrupted && options_.interrupted()) {
        throw Error(ErrorCode::SubsystemFailed, {FactCode::CallInterrupted, {name_}, {{"function", "step"}}},
                    {.subsystem = name_, .variable = {}, .time = time_, .remedy = {}});
      }
      if (instant_now() >= deadline) return false;
    }
  }

  bool take(std::span<const std::byte> bytes, DatagramKind expected) {
    const auto datagram = parse_datagram(bytes);
    const auto* head = datagram ? &datagram->head : nullptr;
    const bool of_rig = head != nullptr && (head->kind == DatagramKind::Ready || head->kind == DatagramKind::Outputs);
    if (of_rig && head->run == run_ && head->kind == DatagramKind::Ready && head->count != latest_.size()) {
      refuse(head->count);
    }
    if (!of_rig || head->run != run_ || head->count != latest_.size() || head->answers > sequence_ ||
        head->sequence == 0) {
      ++counters_.invalid;
      return false;
    }
    ++counters_.received;
    silent_since_ = 0;
    const auto arrival = arrived_.take(head->sequence);
    if (arrival == SequenceCounter::Arrival::Doubled) {
      ++counters_.doubled;
      return false;
    }
    if (arrival == SequenceCounter::Arrival::Reordered) ++counters_.reordered;
    const bool is_step = head->kind == DatagramKind::Outputs;
    if (is_step && head->answers < asked_) ++counters_.late;
    note_answer(*datagram);
    keep(*datagram);
    return head->kind == expected && (!is_step || head->answers == asked_);
  }

  /// In memory that is there already: the run may be paced.
  void note_answer(const Datagram& datagram) {
    if (answers_.times.size() >= most_answers_) return;
    answers_.times.push_back(datagram.head.time);
    answers_.outputs.resize(answers_.outputs.size() + latest_.size());
    datagram.read(std::span(answers_.outputs).last(latest_.size()));
  }

  /// The newest by its own time; the one before it serves to extrapolate.
  void keep(const Datagram& datagram) {
    const Time time = datagram.head.time;
    if (known_ > 0 && time < latest_time_) return;
    if (known_ > 0 && time > latest_time_) {
      std::swap(before_, latest_);
      before_time_ = latest_time_;
      known_ = 2;
    } else if (known_ == 0) {
      known_ = 1;
    }
    datagram.read(latest_);
    latest_time_ = time;
    fresh_ = true;
  }

  void give(std::span<double> outputs) const {
    std::copy(latest_.begin(), latest_.end(), outputs.begin());
    if (options_.missing != MissingOutputs::Extrapolate || known_ < 2 || !(latest_time_ < time_)) return;
    const double ahead = (time_ - latest_time_) / (latest_time_ - before_time_);
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] += ahead * (latest_[i] - before_[i]);
  }

  [[noreturn]] void refuse(std::size_t outputs) const {
    throw Error(
        ErrorCode::SubsystemFailed,
        {FactCode::RigRefused,
         {name_},
         {{"why", fmt::format("for {} inputs it has {} outputs, and {} are expected", variables_.inputs.size(), outputs,
                              latest_.size())}}},
        {.subsystem = name_, .variable = {}, .time = time_, .remedy = "Compare inputs and outputs of both sides"});
  }

  [[noreturn]] void fail_silent() const {
    throw Error(ErrorCode::SubsystemFailed,
                {FactCode::RigSilent, {name_}, {{"address", link_->address()}, {"timeout", options_.timeout, "s"}}},
                {.subsystem = name_,
                 .variable = {},
                 .time = time_,
                 .remedy = "Start the rig first, or write a longer timeout"});
  }

  std::string name_;
  OutsideDescription description_;
  OutsideOptions options_;
  VariableTable variables_;
  Capabilities capabilities_;
  std::unique_ptr<Link> link_;
  std::uint64_t run_ = 0;
  std::uint64_t sequence_ = 0;  ///< of the datagram that was sent last
  std::uint64_t asked_ = 0;     ///< of the step that was posted last
  Time time_ = 0.0;             ///< reached, or the end of the step that was posted
  std::int64_t posted_ = 0;
  std::int64_t silent_since_ = 0;  ///< 0 = not silent
  SequenceCounter arrived_;
  std::size_t most_answers_ = 0;
  Answers answers_;
  DatagramCounters counters_;
  std::vector<double> latest_, before_;
  Time latest_time_ = 0.0, before_time_ = 0.0;
  int known_ = 0;       ///< samples, up to 2
  bool fresh_ = false;  ///< one came in this step
  std::vector<std::byte> buffer_;
  std::span<const std::byte> received_;
};

}  // namespace

std::unique_ptr<Subsystem> make_outside_subsystem(std::string name, const OutsideDescription& description,
                                                  OutsideOptions options) {
  return std::make_unique<OutsideSubsystem>(std::move(name), description, std::move(options));
}

}  // namespace entrain::outside
