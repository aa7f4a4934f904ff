#include "entrain/ranks.hpp"

#include <utility>

#include "ranks/communicator.hpp"
#include "ranks/rank_link.hpp"

namespace entrain {

bool Ranks::launched() {
  return ranks::launched();
}

Ranks::Ranks(const std::atomic<bool>* interrupt)
    : link_(std::make_unique<ranks::RankLink>(ranks::mpi_communicator(), interrupt)) {}

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
