// results.h5: a group per subsystem with its own `time`, and a data set per variable with the attributes name, unit and
// description, in its own type. All are one-dimensional and grow.
//
// Numbers are collected column by column and written as whole chunks, past HDF5's own cache, which would copy them once
// more.

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <span>

#include "base/file_error.hpp"
#include "entrain/fact_codes.hpp"
#include "hdf5/plugin.hpp"
#include "hdf5/support.hpp"
#include "hdf5/values.hpp"
#include "record/results_file.hpp"

namespace entrain::hdf5 {

using recording::RecordedLayout;
using recording::ResultsFile;
using recording::RowBlock;
using recording::RowRange;

namespace {

static_assert(std::endian::native == std::endian::little,
              "chunks are written as they are; their type is little-endian");

// Numbers of a variable that lie together. Each such chunk has a cost; the last one always takes its full size on the
// disk.
constexpr double kSmallestChunk = 64;
constexpr double kLargestChunk = 16384;
constexpr double kUnknownLength = 1024;
constexpr double kMostCollected = 1 << 20;  // numbers of all columns together

/// Chunks of one size that the expected rows just fill.
hsize_t chunk_for(double rows, std::size_t columns) {
  const double most = std::clamp(kMostCollected / static_cast<double>(columns + 1), kSmallestChunk, kLargestChunk);
  if (!(rows > 0.0)) return static_cast<hsize_t>(std::min(kUnknownLength, most));
  return static_cast<hsize_t>(std::max(kSmallestChunk, std::ceil(rows / std::ceil(rows / most))));
}

/// "x" of "left.x" in the group "left"; what has another prefix, as "bonds.shaft.residual_power", keeps it.
std::string name_within(const std::string& name, const std::string& group) {
  return name.starts_with(group + '.') ? name.substr(group.size() + 1) : name;
}

constexpr unsigned kInOrder = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;  // links are listed as they were made

class Hdf5File : public ResultsFile {
 public:
  explicit Hdf5File(std::filesystem::path file) : path_(std::move(file)) {
    silence_hdf5();
    errno = 0;
    const Hdf5Object in_order(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_link_creation_order(in_order.id(), kInOrder);
    file_ = {H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, in_order.id(), H5P_DEFAULT), H5Fclose};
    if (!file_.valid()) throw refused("create");
  }

  void write_header(const RecordedLayout& layout) override {
    errno = 0;
    chunk_ = chunk_for(layout.expected_rows, layout.columns.size());
    const Hdf5Object in_order(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    H5Pset_link_creation_order(in_order.id(), kInOrder);
    for (const auto& name : layout.groups) {
      Group group;
      group.object = {H5Gcreate2(file_.id(), hdf5_link(name).c_str(), H5P_DEFAULT, in_order.id(), H5P_DEFAULT),
                      H5Gclose};
      require(group.object.valid());
      describe(group.object.id(), "name", name);
      group.time = data_set(group.object.id(), kHdf5Time, H5T_IEEE_F64LE);
      describe(group.time.id(), "unit", "s");
      groups_.push_back(std::move(group));
    }
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
      const auto& column = layout.columns[i];
      auto& group = groups_[column.group];
      const auto variable = name_within(column.name, layout.groups[column.group]);
      Hdf5Values values(column.type);
      auto set = data_set(group.object.id(), hdf5_link(variable).c_str(), values.type().id());
      describe(set.id(), "name", column.name);
      describe(set.id(), "unit", column.unit);
      describe(set.id(), "description", column.description);
      if (column.type == ValueType::Binary) describe(set.id(), "encoding", "hexadecimal");
      if (column.discrete) {
        group.discrete.push_back({*column.discrete, std::move(set), std::move(values)});
      } else {
        group.columns.push_back({i, std::move(set)});
      }
    }
    for (auto& group : groups_) group.collected.resize(chunk_ * (group.columns.size() + 1));
    to_disk();
  }

  void write(const RowBlock& block, RowRange rows) override {
    silence_hdf5();
    for (std::size_t g = 0; g < groups_.size(); ++g) collect(block, rows, g);
  }

  void flush() override {
    silence_hdf5();
    for (auto& group : groups_) {
      extend(group);  // first: HDF5 takes no chunk of what is empty
      write_chunks(group);
    }
    to_disk();
  }

 private:
  struct Column {
    std::size_t index;
    Hdf5Object set;
  };
  struct DiscreteColumn {
    std::size_t index;  // among the discrete values of a row
    Hdf5Object set;
    Hdf5Values collected;  // since the set was extended
  };
  struct Group {
    Hdf5Object object;
    Hdf5Object time;
    std::vector<Column> columns;
    std::vector<DiscreteColumn> discrete;
    hsize_t rows = 0;               // in complete chunks
    hsize_t count = 0;              // of the rows collected for the next one
    std::vector<double> collected;  // a chunk of each column, the times last
  };

  void to_disk() const { require(H5Fflush(file_.id(), H5F_SCOPE_LOCAL) >= 0); }

  /// Error of a call that failed, with the message of the operating system if there is one: errno is cleared after each
  /// call that succeeded.
  Error refused(std::string_view action) const {
    if (errno != 0) return base::file_error(action, path_, errno);
    return Error(ErrorCode::FileFailed,
                 {FactCode::FileFailed, {path_.string()}, {{"what", action}, {"why", "HDF5 refused"}}},
                 {.subsystem = {},
                  .variable = {},
                  .time = std::nullopt,
                  .remedy = "Record other variables, or in another format (record.format)"});
  }

  void require(bool good) const {
    if (!good) throw refused("write");
    errno = 0;
  }

  Hdf5Object data_set(hid_t group, const char* name, hid_t type) const {
    const hsize_t none = 0;
    const hsize_t unlimited = H5S_UNLIMITED;
    const Hdf5Object space(H5Screate_simple(1, &none, &unlimited), H5Sclose);
    const Hdf5Object properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(properties.id(), 1, &chunk_);
    if (H5Tget_class(type) != H5T_STRING) H5Pset_fill_time(properties.id(), H5D_FILL_TIME_NEVER);
    Hdf5Object set(H5Dcreate2(group, name, type, space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT), H5Dclose);
    require(set.valid());
    return set;
  }

  void describe(hid_t object, const char* name, const std::string& text) const {
    const auto type = hdf5_text();
    const char* characters = text.c_str();
    const Hdf5Object space(H5Screate(H5S_SCALAR), H5Sclose);
    const Hdf5Object attribute(H5Acreate2(object, name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    require(attribute.valid() && H5Awrite(attribute.id(), type.id(), &characters) >= 0);
  }

  /// Only the rows in which the subsystem communicated: each has its own time axis.
  void collect(const RowBlock& block, RowRange range, std::size_t g) {
    auto& group = groups_[g];
    rows_.resize(range.count());
    std::size_t known = 0;
    for (std::size_t row = range.first; row < range.end; ++row) {
      rows_[known] = row;
      known += block.known(row, g) ? 1 : 0;
    }
    rows_.resize(known);
    for (std::span<const std::size_t> rest = rows_; !rest.empty();) {
      const auto now = rest.first(std::min<std::size_t>(rest.size(), chunk_ - group.count));
      rest = rest.subspan(now.size());
      transpose(block, now, group);
      for (auto& column : group.discrete) {
        for (const std::size_t row : now) column.collected.add(block.discrete(row, column.index));
      }
      group.count += now.size();
      if (group.count < chunk_) continue;
      extend(group);
      write_chunks(group);
      group.rows += chunk_;
      group.count = 0;
    }
  }

  /// Rows become columns. A few rows at a time, so that they stay in the cache.
  void transpose(const RowBlock& block, std::span<const std::size_t> rows, Group& group) const {
    constexpr std::size_t kTile = 32;
    std::array<const double*, kTile> from{};
    double* first = group.collected.data() + group.count;
    for (; !rows.empty(); rows = rows.subspan(std::min(kTile, rows.size()))) {
      const std::size_t count = std::min(kTile, rows.size());
      for (std::size_t i = 0; i < count; ++i) from[i] = block.values(rows[i]);
      double* to = first;
      for (const auto& column : group.columns) {
        for (std::size_t i = 0; i < count; ++i) to[i] = from[i][column.index];
        to += chunk_;
      }
      for (std::size_t i = 0; i < count; ++i) to[i] = block.time(rows[i]);
      first += count;
    }
  }

  void write_chunks(const Group& group) const {
    if (group.count == 0) return;
    const double* from = group.collected.data();
    const auto write_chunk = [&](const Hdf5Object& set) {
      require(H5Dwrite_chunk(set.id(), H5P_DEFAULT, 0, &group.rows, chunk_ * sizeof(double), from) >= 0);
      from += chunk_;
    };
    errno = 0;
    for (const auto& column : group.columns) write_chunk(column.set);
    write_chunk(group.time);
  }

  void extend(Group& group) const {
    const hsize_t size = group.rows + group.count;
    errno = 0;
    for (const auto& column : group.columns) require(H5Dset_extent(column.set.id(), &size) >= 0);
    for (auto& column : group.discrete) append(column, size);
    require(H5Dset_extent(group.time.id(), &size) >= 0);
  }

  /// What has been collected, so that the set has this size. By HDF5 itself: texts have no fixed size.
  void append(DiscreteColumn& column, hsize_t size) const {
    const hsize_t count = column.collected.count();
    const hsize_t before = size - count;
    require(H5Dset_extent(column.set.id(), &size) >= 0);
    if (count == 0) return;
    const Hdf5Object file_space(H5Dget_space(column.set.id()), H5Sclose);
    const Hdf5Object memory_space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    H5Sselect_hyperslab(file_space.id(), H5S_SELECT_SET, &before, nullptr, &count, nullptr);
    require(H5Dwrite(column.set.id(), column.collected.type().id(), memory_space.id(), file_space.id(), H5P_DEFAULT,
                     column.collected.data()) >= 0);
    column.collected.clear();
  }

  std::filesystem::path path_;
  Hdf5Object file_;
  hsize_t chunk_ = 0;
  std::vector<Group> groups_;
  std::vector<std::size_t> rows_;  // of the block, in which the group is known
};

}  // namespace

Hdf5Object hdf5_text() {
  Hdf5Object type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), H5T_VARIABLE);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

std::string hdf5_link(std::string_view name) {
  if (name == kHdf5Time) return "%74ime";
  if (name == ".") return "%2E";
  std::string link;
  for (const char c : name) {
    if (c == '/') {
      link += "%2F";
    } else if (c == '%') {
      link += "%25";
    } else {
      link += c;
    }
  }
  return link;
}

std::unique_ptr<ResultsFile> results_file(const std::filesystem::path& file) {
  return std::make_unique<Hdf5File>(file);
}

}  // namespace entrain::hdf5
