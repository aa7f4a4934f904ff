#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <set>

#include "base/file_error.hpp"
#include "hdf5/plugin.hpp"
#include "hdf5/support.hpp"

namespace entrain::hdf5 {
namespace {

/// False where HDF5 refused something.
bool write_columns(const std::filesystem::path& file, const std::vector<recording::TableColumn>& columns) {
  const Hdf5Object in_order(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_link_creation_order(in_order.id(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  const Hdf5Object out(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, in_order.id(), H5P_DEFAULT), H5Fclose);
  if (!out.valid()) return false;
  std::set<std::string> written;
  for (const auto& [name, numbers, width] : columns) {
    if (!written.insert(name).second) continue;
    const hsize_t size = numbers.size();
    const std::array<hsize_t, 2> sizes{width == 0 ? size : size / width, width};
    const Hdf5Object space(H5Screate_simple(width == 0 ? 1 : 2, sizes.data(), nullptr), H5Sclose);
    const Hdf5Object set(H5Dcreate2(out.id(), hdf5_link(name).c_str(), H5T_IEEE_F64LE, space.id(), H5P_DEFAULT,
                                    H5P_DEFAULT, H5P_DEFAULT),
                         H5Dclose);
    if (!set.valid()) return false;
    if (size > 0 && H5Dwrite(set.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) < 0)
      return false;
  }
  return H5Fflush(out.id(), H5F_SCOPE_GLOBAL) >= 0;
}

}  // namespace

void write_table(const std::filesystem::path& file, const std::vector<recording::TableColumn>& columns) {
  silence_hdf5();
  errno = 0;
  auto beside = file;
  beside += fmt::format(".{}.tmp", ::getpid());
  if (write_columns(beside, columns) && std::rename(beside.c_str(), file.c_str()) == 0) return;
  const int error = errno == 0 ? EIO : errno;
  ::unlink(beside.c_str());
  throw base::file_error("write", file, error);
}

}  // namespace entrain::hdf5
