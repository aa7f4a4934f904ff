#include "ranks/communicator.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "ranks/mpi_plugin.hpp"

namespace entrain::ranks {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlugin = "libentrain_mpi.so";

[[noreturn]] void refuse_mpi(const std::string& why) {
  throw Error(ErrorCode::InvalidSystem, {FactCode::RanksUnavailable, {}, {{"ranks", launched_size()}, {"why", why}}},
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Start it without the launcher"});
}

/// Beside this program or library, above it (a build tree), or where it is installed.
std::vector<fs::path> places() {
  std::vector<fs::path> found;
  if (const char* chosen = std::getenv("ENTRAIN_MPI")) found.emplace_back(chosen);
  const auto add = [&](const fs::path& file) {
    for (const char* relative : {".", "..", "../lib/entrain", "../lib", "../../lib/entrain", "entrain"})
      found.push_back((file.parent_path() / relative / kPlugin).lexically_normal());
  };
  std::error_code unknown;
  if (const auto self = fs::read_symlink("/proc/self/exe", unknown); !unknown) add(self);
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&launched), &library) != 0 && library.dli_fname != nullptr) {
    if (const auto file = fs::canonical(library.dli_fname, unknown); !unknown) add(file);
  }
  return found;
}

const EntrainMpi& plugin() {
  void* library = nullptr;
  std::string why = "this build of Entrain has no " + std::string(kPlugin);
  for (const auto& place : places()) {
    if (::access(place.c_str(), R_OK) != 0) continue;
    library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
    why = ::dlerror();
  }
  if (library == nullptr) refuse_mpi(why);
  using Entry = const EntrainMpi* (*)();
  const auto entry = reinterpret_cast<Entry>(::dlsym(library, kEntrainMpiSymbol));
  if (entry == nullptr || entry()->interface != kEntrainMpiInterface)
    refuse_mpi(fmt::format("{} is of another version", kPlugin));
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
