// What is measured over time: a row each second, written as CSV, drawn as SVG, and printed as a table.
#ifndef STUDIO_RECORD_HPP
#define STUDIO_RECORD_HPP

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "studio.hpp"

namespace studio {

// How many descriptors this process has open.
std::size_t open_descriptors();
// How many of its mappings are shared memory.
std::size_t shared_mappings();
// Whether a socket has a name that begins so.
bool is_name_left(const std::string &name);

struct row {
  double second = 0, resident = 0, descriptors = 0, viewers = 0, cpu = 0;
  double late_p50 = 0, late_p99 = 0, late_max = 0, age_p50 = 0, age_p99 = 0, age_max = 0; // milliseconds
  double shown = 0, skipped = 0, dropped = 0;                                             // since the row before
};

class recorder {
 public:
  explicit recorder(studio &of);
  // Measures a row.
  void take(std::size_t viewers);
  const std::vector<row> &rows() const noexcept { return rows_; }

 private:
  studio &of_;
  std::int64_t begin_, last_;
  double cpu_last_;
  std::uint64_t shown_ = 0, skipped_ = 0, dropped_ = 0;
  std::vector<row> rows_;
};

void write_csv(const std::vector<row> &rows, std::ostream &to);
void write_svg(const std::vector<row> &rows, std::ostream &to);
// At most this number of lines, each of many rows: means, and of what is a greatest value the greatest.
void write_table(const std::vector<row> &rows, std::size_t lines, std::ostream &to);

}  // namespace studio

#endif
