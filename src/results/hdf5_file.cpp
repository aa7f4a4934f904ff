// results.h5: a group per subsystem with its own `time`, and a data set per variable with the attributes name, unit and
// description. All are one-dimensional and grow.
#include <algorithm>
#include <cerrno>
#include <span>

#include "results/file_error.hpp"
#include "results/hdf5_support.hpp"
#include "results/results_file.hpp"

namespace entrain {
namespace {

// Numbers of a variable that lie together. Each such chunk has a cost; the last one takes its room of the disk whole.
constexpr double kSmallestChunk = 64;
constexpr double kLargestChunk = 16384;
constexpr double kUnknownLength = 1024;

hsize_t chunk_for(double rows) {
  return static_cast<hsize_t>(std::clamp(rows > 0.0 ? rows : kUnknownLength, kSmallestChunk, kLargestChunk));
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
    if (!file_.valid()) throw file_error("cannot create", path_, errno == 0 ? EIO : errno);
  }

  void write_header(const RecordedLayout& layout) override {
    chunk_ = chunk_for(layout.expected_rows);
    const Hdf5Object in_order(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    H5Pset_link_creation_order(in_order.id(), kInOrder);
    for (const auto& name : layout.groups) {
      Group group;
      group.object = {H5Gcreate2(file_.id(), hdf5_link(name).c_str(), H5P_DEFAULT, in_order.id(), H5P_DEFAULT),
                      H5Gclose};
      require(group.object.valid());
      describe(group.object.id(), "name", name);
      group.time = data_set(group.object.id(), kHdf5Time);
      describe(group.time.id(), "unit", "s");
      groups_.push_back(std::move(group));
    }
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
      const auto& column = layout.columns[i];
      auto& group = groups_[column.group];
      const auto variable = column.name.substr(column.name.find('.') + 1);
      auto set = data_set(group.object.id(), hdf5_link(variable).c_str());
      describe(set.id(), "name", column.name);
      describe(set.id(), "unit", column.unit);
      describe(set.id(), "description", column.description);
      group.columns.push_back({i, std::move(set)});
    }
    require(H5Fflush(file_.id(), H5F_SCOPE_LOCAL) >= 0);
  }

  void write(const RowBlock& block) override {
    silence_hdf5();
    for (std::size_t g = 0; g < groups_.size(); ++g) write_group(block, g);
  }

  void flush() override {
    silence_hdf5();
    require(H5Fflush(file_.id(), H5F_SCOPE_LOCAL) >= 0);
  }

 private:
  struct Column {
    std::size_t index;
    Hdf5Object set;
  };
  struct Group {
    Hdf5Object object;
    Hdf5Object time;
    std::vector<Column> columns;
    hsize_t rows = 0;
  };

  void require(bool good) const {
    if (!good) throw file_error("cannot write", path_, errno == 0 ? EIO : errno);
  }

  Hdf5Object data_set(hid_t group, const char* name) const {
    const hsize_t none = 0;
    const hsize_t unlimited = H5S_UNLIMITED;
    const Hdf5Object space(H5Screate_simple(1, &none, &unlimited), H5Sclose);
    const Hdf5Object properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(properties.id(), 1, &chunk_);
    Hdf5Object set(H5Dcreate2(group, name, H5T_IEEE_F64LE, space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
                   H5Dclose);
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
  void write_group(const RowBlock& block, std::size_t g) {
    auto& group = groups_[g];
    rows_.clear();
    for (std::size_t row = 0; row < block.rows(); ++row) {
      if (block.known(row, g)) rows_.push_back(row);
    }
    if (rows_.empty()) return;
    const std::size_t count = rows_.size();
    transpose(block, group);
    // The times last: a reader of a killed run never finds a time without its values.
    for (std::size_t c = 0; c < group.columns.size(); ++c) {
      append(group.columns[c].set, group.rows, {numbers_.data() + c * count, count});
    }
    append(group.time, group.rows, {numbers_.data() + group.columns.size() * count, count});
    group.rows += count;
  }

  /// Rows become columns, the times last. A few rows at a time, so that they stay in the cache.
  void transpose(const RowBlock& block, const Group& group) {
    constexpr std::size_t kTile = 32;
    const std::size_t count = rows_.size();
    numbers_.resize(count * (group.columns.size() + 1));
    for (std::size_t first = 0; first < count; first += kTile) {
      const std::size_t end = std::min(count, first + kTile);
      double* to = numbers_.data();
      for (const auto& column : group.columns) {
        for (std::size_t i = first; i < end; ++i) to[i] = block.value(rows_[i], column.index);
        to += count;
      }
      for (std::size_t i = first; i < end; ++i) to[i] = block.time(rows_[i]);
    }
  }

  void append(const Hdf5Object& set, hsize_t before, std::span<const double> numbers) const {
    const hsize_t count = numbers.size();
    const hsize_t size = before + count;
    errno = 0;
    require(H5Dset_extent(set.id(), &size) >= 0);
    const Hdf5Object file_space(H5Dget_space(set.id()), H5Sclose);
    const Hdf5Object memory_space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    H5Sselect_hyperslab(file_space.id(), H5S_SELECT_SET, &before, nullptr, &count, nullptr);
    require(H5Dwrite(set.id(), H5T_NATIVE_DOUBLE, memory_space.id(), file_space.id(), H5P_DEFAULT, numbers.data()) >=
            0);
  }

  std::filesystem::path path_;
  Hdf5Object file_;
  hsize_t chunk_ = 0;
  std::vector<Group> groups_;
  std::vector<std::size_t> rows_;  // of the block, in which the group is known
  std::vector<double> numbers_;    // column by column
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

std::unique_ptr<ResultsFile> hdf5_file(const std::filesystem::path& file) {
  return std::make_unique<Hdf5File>(file);
}

}  // namespace entrain
