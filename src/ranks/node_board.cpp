#include "ranks/node_board.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace entrain::ranks {
namespace {

int opened(const std::string& name) {
  const int descriptor = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), name);
  return descriptor;
}

}  // namespace

NodeBoard::NodeBoard(int ranks, int rank)
    : ranks_(ranks), rank_(rank), memory_(base::SharedMemory::new_file(size())), blocks_(memory_.map({0, size()})) {
  counters_ = reinterpret_cast<Counter*>(blocks_ + size()) - ranks_;
}

NodeBoard::NodeBoard(const std::string& name, int ranks, int rank)
    : ranks_(ranks), rank_(rank), memory_(opened(name)), blocks_(memory_.map({0, size()})) {
  counters_ = reinterpret_cast<Counter*>(blocks_ + size()) - ranks_;
}

std::string NodeBoard::name() const {
  return fmt::format("/proc/{}/fd/{}", ::getpid(), memory_.descriptor());
}

std::size_t NodeBoard::size() const {
  return static_cast<std::size_t>(ranks_) * (2 * kRoom + sizeof(Counter));
}

std::byte* NodeBoard::place(std::uint64_t number, int rank) const {
  return blocks_ + (static_cast<std::size_t>(rank) * 2 + number % 2) * kRoom;
}

void NodeBoard::write(std::uint64_t number, std::span<const std::byte> first, std::span<const std::byte> rest) {
  std::byte* to = place(number, rank_);
  std::memcpy(to, first.data(), first.size());
  const std::size_t fits = std::min(rest.size(), kRoom - first.size());
  if (fits > 0) std::memcpy(to + first.size(), rest.data(), fits);
  counters_[rank_].written.store(number, std::memory_order_release);
}

bool NodeBoard::is_complete(std::uint64_t number) const {
  return std::all_of(counters_, counters_ + ranks_,
                     [&](const Counter& each) { return each.written.load(std::memory_order_acquire) >= number; });
}

const std::byte* NodeBoard::block(std::uint64_t number, int rank) const {
  return place(number, rank);
}

}  // namespace entrain::ranks
