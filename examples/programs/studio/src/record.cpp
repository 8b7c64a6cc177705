#include "record.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <string_view>

#include "pace.hpp"

namespace studio {
namespace {

struct column {
  const char *name;
  double row::*value;
  bool is_greatest;
};
constexpr column columns[] = {
    {"second", &row::second, true},        {"resident_mib", &row::resident, false}, {"descriptors", &row::descriptors, true},
    {"viewers", &row::viewers, false},     {"cpu_percent", &row::cpu, false},       {"late_p50_ms", &row::late_p50, false},
    {"late_p99_ms", &row::late_p99, true}, {"late_max_ms", &row::late_max, true},   {"age_p50_ms", &row::age_p50, false},
    {"age_p99_ms", &row::age_p99, true},   {"age_max_ms", &row::age_max, true},     {"shown", &row::shown, false},
    {"skipped", &row::skipped, false},     {"dropped", &row::dropped, false},
};

double cpu_seconds() {
  rusage used{};
  (void)getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval &time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6; };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double resident_mib() {
  std::size_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1024 * 1024);
}

// All that is there now, in milliseconds, sorted.
std::vector<double> drained(ys::receiver<std::int64_t> &from) {
  std::vector<double> all;
  while (auto run = from.try_run()) {
    for (const std::int64_t ns : run) all.push_back(static_cast<double>(ns) / 1e6);
  }
  std::sort(all.begin(), all.end());
  return all;
}

double at_share(const std::vector<double> &sorted, double share) {
  return sorted.empty() ? 0 : sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

template <class Find>
std::size_t lines_of(const char *file, Find is_one) {
  std::ifstream in(file);
  std::size_t found = 0;
  for (std::string line; std::getline(in, line);) found += is_one(line) ? 1 : 0;
  return found;
}

}  // namespace

std::size_t open_descriptors() {
  // Without the one by which this looks.
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {})) - 1;
}

std::size_t shared_mappings() {
  return lines_of("/proc/self/maps", [](const std::string &line) { return line.find("memfd:") != line.npos || line.find("/dev/shm/") != line.npos; });
}

bool is_name_left(const std::string &name) {
  return lines_of("/proc/net/unix", [&](const std::string &line) { return line.find(name) != line.npos; }) != 0;
}

recorder::recorder(studio &of) : of_(of), begin_(now_ns()), last_(begin_), cpu_last_(cpu_seconds()) {}

void recorder::take(std::size_t viewers) {
  const std::int64_t now = now_ns();
  const double seconds = static_cast<double>(now - last_) / 1e9, cpu = cpu_seconds();
  const std::vector<double> late = drained(of_.lateness()), ages = drained(of_.ages());
  const auto since = [](std::uint64_t &last, std::uint64_t next) { return static_cast<double>(next - std::exchange(last, next)); };
  row next;
  next.second = static_cast<double>(now - begin_) / 1e9;
  next.resident = resident_mib();
  next.descriptors = static_cast<double>(open_descriptors());
  next.viewers = static_cast<double>(viewers);
  next.cpu = 100 * (cpu - cpu_last_) / seconds;
  next.late_p50 = at_share(late, 0.5), next.late_p99 = at_share(late, 0.99), next.late_max = at_share(late, 1);
  next.age_p50 = at_share(ages, 0.5), next.age_p99 = at_share(ages, 0.99), next.age_max = at_share(ages, 1);
  next.shown = since(shown_, of_.count().shown.get());
  next.skipped = since(skipped_, of_.count().skipped.get());
  next.dropped = since(dropped_, of_.count().dropped.get());
  last_ = now;
  cpu_last_ = cpu;
  rows_.push_back(next);
}

void write_csv(const std::vector<row> &rows, std::ostream &to) {
  const char *between = "";
  for (const column &one : columns) to << std::exchange(between, ",") << one.name;
  to << '\n' << std::fixed << std::setprecision(3);
  for (const row &next : rows) {
    between = "";
    for (const column &one : columns) to << std::exchange(between, ",") << next.*one.value;
    to << '\n';
  }
}

void write_table(const std::vector<row> &rows, std::size_t lines, std::ostream &to) {
  for (const column &one : columns) to << std::setw(13) << one.name;
  to << '\n' << std::fixed << std::setprecision(2);
  const std::size_t each = std::max<std::size_t>(1, (rows.size() + lines - 1) / lines);
  for (std::size_t first = 0; first < rows.size(); first += each) {
    const std::size_t end = std::min(rows.size(), first + each);
    for (const column &one : columns) {
      double sum = 0, greatest = 0;
      for (std::size_t at = first; at < end; at++) {
        sum += rows[at].*one.value;
        greatest = std::max(greatest, rows[at].*one.value);
      }
      to << std::setw(13) << (one.is_greatest ? greatest : sum / static_cast<double>(end - first));
    }
    to << '\n';
  }
}

// The picture: panels one below the other, over the same time.
namespace {

struct curve {
  const char *name, *color;
  double row::*value;
};
struct panel {
  const char *title;
  bool is_log;
  std::vector<curve> curves;
};

constexpr double left = 60, right = 880, panel_height = 110, panel_step = 160, above = 50;

class scale {
 public:
  scale(const panel &of, const std::vector<row> &rows) : is_log_(of.is_log) {
    double most = 0;
    for (const row &next : rows) {
      for (const curve &one : of.curves) most = std::max(most, next.*one.value);
    }
    if (is_log_) {
      top_ = std::max(1.0, std::ceil(std::log10(std::max(most, 1e-9))));
      bottom_ = -2;
    } else {
      const double ten = std::pow(10, std::floor(std::log10(std::max(most, 1.0))));
      for (const double step : {1, 2, 5, 10}) {
        top_ = step * ten;
        if (top_ >= most) break;
      }
    }
  }

  double height(double value) const {
    const double at = is_log_ ? std::log10(std::max(value, 0.01)) : value;
    return panel_height * (1 - (at - bottom_) / (top_ - bottom_));
  }
  std::vector<double> ticks() const {
    if (!is_log_) return {0, top_ / 2, top_};
    std::vector<double> all;
    for (double power = bottom_; power <= top_; power++) all.push_back(std::pow(10, power));
    return all;
  }

 private:
  bool is_log_;
  double top_ = 1, bottom_ = 0;
};

void text(std::ostream &to, double x, double y, const char *anchor, const char *color, std::string_view words) {
  to << "<text x='" << x << "' y='" << y << "' text-anchor='" << anchor << "' fill='" << color << "'>" << words << "</text>\n";
}

std::string number(double value) {
  std::string digits = std::to_string(value);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

// A gap where nothing was measured.
void draw(std::ostream &to, const curve &one, const std::vector<row> &rows, const scale &y, double top, double seconds, bool has_gaps) {
  bool is_open = false;
  for (const row &next : rows) {
    if (has_gaps && next.*one.value <= 0) {
      if (std::exchange(is_open, false)) to << "'/>\n";
      continue;
    }
    if (!std::exchange(is_open, true)) to << "<polyline fill='none' stroke='" << one.color << "' stroke-width='1.3' points='";
    to << left + (right - left) * next.second / seconds << ',' << top + y.height(next.*one.value) << ' ';
  }
  if (is_open) to << "'/>\n";
}

void draw(std::ostream &to, const panel &one, const std::vector<row> &rows, double top, double seconds) {
  const scale y(one, rows);
  text(to, left, top - 8, "start", "#222", one.title);
  double at = right;
  for (auto curve = one.curves.rbegin(); curve != one.curves.rend(); ++curve, at -= 90) text(to, at, top - 8, "end", curve->color, curve->name);
  for (const double tick : y.ticks()) {
    const double height = top + y.height(tick);
    to << "<line x1='" << left << "' x2='" << right << "' y1='" << height << "' y2='" << height << "' stroke='#ddd'/>\n";
    text(to, left - 6, height + 4, "end", "#666", number(tick));
  }
  for (int part = 0; part <= 6; part++) {
    text(to, left + (right - left) * part / 6, top + panel_height + 15, "middle", "#666", number(std::round(seconds * part / 6)) + " s");
  }
  for (const curve &next : one.curves) draw(to, next, rows, y, top, seconds, one.is_log);
}

}  // namespace

void write_svg(const std::vector<row> &rows, std::ostream &to) {
  constexpr const char *blue = "#1f6fb4", *orange = "#d9730d", *red = "#c0262d", *green = "#2e8540";
  const std::vector<panel> panels = {
      {"resident memory of the studio, MiB", false, {{"resident", blue, &row::resident}}},
      {"descriptors of the studio, and viewers", false, {{"descriptors", blue, &row::descriptors}, {"viewers", green, &row::viewers}}},
      {"CPU of the studio, % of one", false, {{"CPU", blue, &row::cpu}}},
      {"how late the audio callback was, ms", true, {{"p50", green, &row::late_p50}, {"p99", orange, &row::late_p99}, {"most", red, &row::late_max}}},
      {"age of frames when viewers had checked them, ms", true,
       {{"p50", green, &row::age_p50}, {"p99", orange, &row::age_p99}, {"most", red, &row::age_max}}},
      {"frames in a second: checked by all viewers, and left out", false, {{"checked", green, &row::shown}, {"left out", orange, &row::skipped}}},
      {"blocks of audio that the card had to drop, in a second", false, {{"dropped", red, &row::dropped}}},
  };
  const double seconds = rows.empty() ? 1 : std::max(rows.back().second, 0.001);
  to << "<svg xmlns='http://www.w3.org/2000/svg' width='920' height='" << above + panel_step * static_cast<double>(panels.size())
     << "' font-family='sans-serif' font-size='12'>\n<rect width='100%' height='100%' fill='white'/>\n";
  double top = above;
  for (const panel &next : panels) {
    draw(to, next, rows, top, seconds);
    top += panel_step;
  }
  to << "</svg>\n";
}

}  // namespace studio
