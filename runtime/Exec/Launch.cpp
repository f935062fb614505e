#include "runtime/Exec/Launch.h"

#include <charconv>
#include <cstring>

#include <fmt/format.h>

namespace vime {
namespace {

struct Launcher {
  const char *name, *rank, *ranks;
  bool alone; // a launch of one process is one, too
};

/// The first whose rank is there. Of Slurm the number of the *step's* tasks: a batch script, which
/// is no rank, has all other variables.
constexpr Launcher kLaunchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", true},
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", false},
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", false},
    {"mpiexec", "PMI_RANK", "PMI_SIZE", false},
};

Status unusable(const std::string &what) {
  return Status(StatusCode::Usage,
                what + "\nhelp: a rank needs its number, the number of ranks, and `MASTER_ADDR` "
                       "and `MASTER_PORT` where ranks meet; to start all ranks here, unset what "
                       "the launcher set");
}

template <typename Number> bool parse(std::string_view text, Number &number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

template <typename Number>
Status read(const Variables &variables, const char *name, Number &number) {
  const char *text = variables(name);
  if (!text)
    return unusable(fmt::format("`{}` is not set", name));
  return parse(text, number) ? Status() : unusable(fmt::format("`{}={}` is no number", name, text));
}

const Launcher *launcherOf(const Variables &variables) {
  for (const Launcher &launcher : kLaunchers)
    if (variables(launcher.rank) && (launcher.alone || variables(launcher.ranks)))
      return &launcher;
  return nullptr;
}

/// `node07` of `node[07-09,12],login1`.
std::string firstHost(std::string_view list) {
  const std::size_t end = list.find_first_of("[,");
  std::string host(list.substr(0, end));
  if (end == std::string_view::npos || list[end] == ',')
    return host;
  list.remove_prefix(end + 1);
  host += list.substr(0, list.find_first_of("-,]"));
  const std::size_t close = list.find(']');
  if (close != std::string_view::npos) {
    const std::string_view rest = list.substr(close + 1);
    host += rest.substr(0, rest.find(','));
  }
  return host;
}

/// Among those that no kernel gives away by itself, apart for jobs of one machine.
std::uint16_t portOfJob(std::uint64_t job) {
  return static_cast<std::uint16_t>(20000 + job % 10000);
}

StatusOr<StoreAddress> storeOf(const Variables &variables) {
  const char *host = variables("MASTER_ADDR");
  const char *hosts = variables("SLURM_STEP_NODELIST");
  std::uint64_t job = 0;
  const bool isSlurm = hosts && variables("SLURM_JOB_ID") && parse(variables("SLURM_JOB_ID"), job);
  StoreAddress store;
  if (host && *host)
    store.host = host;
  else if (isSlurm)
    store.host = firstHost(hosts);
  else
    return unusable("`MASTER_ADDR` is not set");
  if (isSlurm && !variables("MASTER_PORT"))
    store.port = portOfJob(job);
  else if (Status status = read(variables, "MASTER_PORT", store.port); !status.ok())
    return status;
  return store;
}

std::string orZero(const char *text) { return text ? text : "0"; }

} // namespace

StatusOr<std::optional<Launch>> launchFrom(const Variables &variables) {
  const Launcher *launcher = launcherOf(variables);
  if (!launcher)
    return std::optional<Launch>();
  Launch launch{.by = launcher->name};
  if (Status status = read(variables, launcher->rank, launch.rank); !status.ok())
    return status;
  if (Status status = read(variables, launcher->ranks, launch.ranks); !status.ok())
    return status;
  if (launch.ranks == 1 && !launcher->alone)
    return std::optional<Launch>();
  if (launch.rank >= launch.ranks)
    return unusable(fmt::format("`{}={}` is not below `{}={}`", launcher->rank, launch.rank,
                                launcher->ranks, launch.ranks));
  StatusOr<StoreAddress> store = storeOf(variables);
  if (!store.ok())
    return store.status();
  launch.store = *store;
  const char *agent = variables("TORCHELASTIC_USE_AGENT_STORE");
  launch.store.isOfRankZero = !(agent && std::strcmp(agent, "True") == 0);
  launch.hostsStore = launch.rank == 0 && launch.store.isOfRankZero;
  launch.endsWithParent = variables("TORCHELASTIC_RUN_ID") != nullptr;
  launch.attempt = orZero(variables("TORCHELASTIC_RESTART_COUNT"));
  launch.prefix =
      fmt::format("vime/{}/{}/", orZero(variables("TORCHELASTIC_RUN_ID")), launch.attempt);
  return std::optional(std::move(launch));
}

} // namespace vime
