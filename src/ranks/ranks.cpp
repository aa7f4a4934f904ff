#include "entrain/ranks.hpp"

#include <cstdlib>
#include <string_view>
#include <utility>

#include "ranks/communicator.hpp"
#include "ranks/rank_link.hpp"

namespace entrain {
namespace {

/// Off: for a machine where ranks cannot or must not open what another one has open, and to try what several nodes do.
bool may_share_memory() {
  const char* value = std::getenv("ENTRAIN_RANKS_MEMORY");
  return value == nullptr || std::string_view(value) != "off";
}

}  // namespace

bool Ranks::launched() {
  return ranks::launched();
}

Ranks::Ranks(const std::atomic<bool>* interrupt)
    : link_(std::make_unique<ranks::RankLink>(ranks::mpi_communicator(), interrupt, may_share_memory())) {}

Ranks::~Ranks() = default;

int Ranks::rank() const {
  return link_->rank();
}

int Ranks::size() const {
  return link_->size();
}

int Ranks::take_part(const std::function<int()>& work) {
  try {
    const int code = work();
    link_->finish();
    return is_first() ? code : 0;  // a launcher ends the job with the first process that does not return 0
  } catch (const Error& error) {
    link_->leave(error);
    if (is_first()) throw;
  } catch (const std::exception& error) {
    link_->leave(Error(ErrorCode::SubsystemFailed, error.what()));
    if (is_first()) throw;
  }
  return 0;
}

}  // namespace entrain
