#include "ranks/communicator.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <string>

#include "base/plugin.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "ranks/mpi_plugin.hpp"

namespace entrain::ranks {
namespace {

constexpr const char* kPlugin = "libentrain_mpi.so";

[[noreturn]] void refuse_mpi(const std::string& why) {
  throw Error(ErrorCode::InvalidSystem, {FactCode::RanksUnavailable, {}, {{"ranks", launched_size()}, {"why", why}}},
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Start it without the launcher"});
}

const EntrainMpi& plugin() {
  const auto found = base::load_plugin(kPlugin, kEntrainMpiSymbol, std::getenv("ENTRAIN_MPI"));
  if (found.entry == nullptr) refuse_mpi(found.why);
  using Entry = const EntrainMpi* (*)();
  const auto entry = reinterpret_cast<Entry>(found.entry);
  if (entry()->interface != kEntrainMpiInterface) refuse_mpi(fmt::format("{} is of another version", kPlugin));
  return *entry();
}

class Mpi final : public Communicator {
 public:
  Mpi() : calls_(plugin()) {
    require(calls_.begin());
    rank_ = calls_.rank();
    size_ = calls_.size();
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void gather(const std::byte* own, const int* counts, const int* to, std::byte* all) override {
    require(calls_.gather(own, counts, to, all));
  }
  bool poll() override {
    const int done = calls_.poll();
    if (done < 0) require(-done);
    return done == 1;
  }
  void progress() override { static_cast<void>(calls_.progress()); }  // what fails, fails in the call that it is for
  void send(int to, std::span<const std::byte> bytes) override { require(calls_.send(bytes.data(), bytes.size(), to)); }
  std::optional<Message> receive() override {
    int from = -1;
    std::size_t size = 0;
    require(calls_.waiting(&from, &size));
    if (from < 0) return std::nullopt;
    Message message{from, base::Bytes(size)};
    require(calls_.receive(message.bytes.data(), size, from));
    return message;
  }
  void end() override { calls_.end(); }

 private:
  void require(int code) const {
    if (code == 0) return;
    std::array<char, 256> text{};
    calls_.explain(code, text.data(), text.size());
    refuse_mpi(text.data());
  }

  const EntrainMpi& calls_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

bool launched() {
  return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMIX_RANK") != nullptr;
}

int launched_size() {
  if (!launched()) return 1;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    if (const char* text = std::getenv(name)) return std::atoi(text);
  }
  return 1;
}

std::unique_ptr<Communicator> mpi_communicator() {
  return std::make_unique<Mpi>();
}

}  // namespace entrain::ranks
