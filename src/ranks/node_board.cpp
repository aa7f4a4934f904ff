#include "ranks/node_board.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <system_error>

namespace entrain::ranks {
namespace {

[[noreturn]] void refuse_board(int error, const std::string& file) {
  throw std::system_error(error, std::generic_category(), file);
}

/// A file of another size is none, and is not opened: to open a device can have effects.
int opened(const std::string& name, std::size_t size) {
  struct stat file {};
  if (::stat(name.c_str(), &file) != 0) refuse_board(errno, name);
  if (!S_ISREG(file.st_mode) || static_cast<std::size_t>(file.st_size) < size) refuse_board(EINVAL, name);
  const int descriptor = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) refuse_board(errno, name);
  return descriptor;
}

std::uint64_t random_number() {
  std::random_device source;
  return std::uniform_int_distribution<std::uint64_t>(1)(source);
}

}  // namespace

NodeBoard::NodeBoard(int ranks, int rank)
    : ranks_(ranks), rank_(rank), memory_(base::SharedMemory::new_file(size())), blocks_(memory_.map({0, size()})) {
  counters_ = reinterpret_cast<Counter*>(blocks_ + size() - kLine) - ranks_;
  token() = random_number();
}

NodeBoard::NodeBoard(const Address& address, int ranks, int rank)
    : ranks_(ranks),
      rank_(rank),
      memory_(opened(address.file, size_of(ranks))),
      blocks_(memory_.map({0, size_of(ranks)})) {
  counters_ = reinterpret_cast<Counter*>(blocks_ + size() - kLine) - ranks_;
  if (token() != address.token) refuse_board(EINVAL, address.file);
}

NodeBoard::Address NodeBoard::address() const {
  return {fmt::format("/proc/{}/fd/{}", ::getpid(), memory_.descriptor()), token()};
}

/// Blocks, counters, and a line for the token.
std::size_t NodeBoard::size_of(int ranks) {
  return static_cast<std::size_t>(ranks) * (2 * kRoom + sizeof(Counter)) + kLine;
}

std::uint64_t& NodeBoard::token() const {
  return *reinterpret_cast<std::uint64_t*>(blocks_ + size() - kLine);
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
