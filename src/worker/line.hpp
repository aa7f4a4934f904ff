#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "worker/served_subsystem.hpp"
#include "worker/worker_process.hpp"

namespace entrain::worker {

/// The calls of one subsystem to its worker. Where restarts are allowed, a process that ends is started again and made
/// what it was: from its last serialized state where it can serialize, and by the calls since then.
class Line {
 public:
  struct Setup {
    MakeRequest request;
    Caller caller;
    int restarts = 0;
    Confinement confinement{};  ///< of another process
  };
  Line(std::shared_ptr<WorkerProcess> process, const WorkerProcess::Made& made, Setup setup);

  /// Arguments and answers of the call.
  Mailbox& box() { return *box_; }
  Numbers& numbers() { return numbers_; }
  void post(Operation operation);
  /// Throws what the call threw, or how its process ended.
  void wait();
  void call(Operation operation) {
    post(operation);
    wait();
  }
  template <class... Arguments>
  void call_with(Operation operation, const Arguments&... arguments) {
    guarded([&] { parcel_->write(arguments...); });
    call(operation);
  }
  template <class... Results>
  void read(Results&... results) {
    guarded([&] { parcel_->read(results...); });
  }
  /// Ends the process, whose answer makes no sense. Throws.
  [[noreturn]] void refuse_answer() { process_->refuse_answer(number_); }

  // Saved states, by numbers of our own: in another process they have others.
  std::uint32_t save();
  void restore(std::uint32_t id) { restored_ = id; }  ///< with the next call
  /// Nothing is left for the next call: what it holds of the latest is true.
  void settle() {
    if (restored_) call(Operation::Refusal);
  }
  void release(std::uint32_t id);  ///< likewise
  base::Bytes serialize(std::uint32_t id);
  std::uint32_t deserialize(const base::Bytes& bytes);

  void may_serialize(bool whether) { serializes_ = whether; }
  /// Whether its process has ended, which a call has reported.
  bool has_ended() const { return process_->has_reported_end(); }
  void close() { process_->close(number_); }
  const std::vector<Fact>& restarts() const { return restarts_; }

 private:
  /// A call that can be made again.
  struct Request {
    Operation operation{};
    double from = 0.0, size = 0.0;
    std::int32_t degree = 0;
    std::optional<std::uint32_t> restored{};
    std::vector<std::uint32_t> released{};
    std::uint32_t id = 0;  ///< of the state that it makes
    std::vector<double> inputs{}, x{}, outputs{};
    base::Bytes bytes{};
  };
  /// A state outside of any process, and those saved by then.
  struct Snapshot {
    base::Bytes now;
    std::vector<std::pair<std::uint32_t, base::Bytes>> saved;
  };

  template <class Function>
  void guarded(Function&& use) {
    process_->guarded(number_, std::forward<Function>(use));
  }
  void bind(const WorkerProcess::Made& made);
  bool changes_state(Operation operation) const;
  Request request_of(Operation operation);
  void fill(const Request& request);
  void send(Operation operation);
  void make(Operation operation);
  void let_go(std::uint32_t id, bool restored);
  void remember();
  void take_snapshot();
  void return_to_snapshot();
  void make_again(const Request& request);
  void restart(const Error& error);
  std::uint32_t new_id();
  bool restarts_allowed() const { return setup_.restarts > 0; }

  Setup setup_;
  std::shared_ptr<WorkerProcess> process_;
  std::uint32_t number_ = 0;
  Mailbox* box_ = nullptr;
  Numbers numbers_;
  std::optional<Parcel> parcel_;

  std::optional<std::uint32_t> restored_;  ///< left for the next call
  std::vector<std::uint32_t> released_;    ///< likewise
  std::vector<std::uint32_t> theirs_;      ///< by our number of a saved state, that of the process
  std::vector<bool> held_;                 ///< by our number
  std::uint32_t made_id_ = 0;              ///< of the state that the call under way makes

  bool serializes_ = false;
  bool shares_events_ = false;
  Request current_;
  std::vector<Request> beginning_;  ///< up to the first step
  std::vector<Request> since_;      ///< since the snapshot, or the beginning
  std::optional<Snapshot> snapshot_;
  std::vector<Fact> restarts_;
};

}  // namespace entrain::worker
