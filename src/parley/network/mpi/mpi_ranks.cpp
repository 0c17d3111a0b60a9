#include "parley/network/mpi/mpi_ranks.h"

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "parley/base/error.h"
#include "parley/network/mpi/checked.h"
#include "parley/network/mpi/mpi_transport.h"

namespace parley::network {
namespace {

class MpiRanks : public Ranks {
 public:
  MpiRanks() {
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);  // ranks that wait leave the cores to those that work
    // Ranks on one machine would read each other's memory, which none allows that holds a secret (base/durable.h).
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);  // only the first thread calls MPI
    expects(provided >= MPI_THREAD_FUNNELED, "an MPI that allows threads beside it");
    MPI_Comm_dup(MPI_COMM_WORLD, &world_);
    MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN);  // checked()
    MPI_Comm_rank(world_, &rank_);
    MPI_Comm_size(world_, &count_);
    check_alone();
    const std::string mine = host_and_cores();
    sharing_ = static_cast<int>(std::ranges::count(MpiRanks::texts(mine), mine));
  }

  ~MpiRanks() override {
    MPI_Barrier(world_);  // nobody says goodbye while another still works
    MPI_Comm_free(&world_);
    MPI_Finalize();
  }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  int rank() const override { return rank_; }
  int count() const override { return count_; }

  int cores() const override { return std::max(1, allowed_ / sharing_); }

  void in_turn(std::span<double> total, const std::function<void()>& add) override {
    const int size = counted(total.size());
    if (rank_ > 0)
      checked(MPI_Recv(total.data(), size, MPI_DOUBLE, rank_ - 1, turn, world_, MPI_STATUS_IGNORE), "MPI_Recv");
    add();
    if (rank_ + 1 < count_) checked(MPI_Send(total.data(), size, MPI_DOUBLE, rank_ + 1, turn, world_), "MPI_Send");
    checked(MPI_Bcast(total.data(), size, MPI_DOUBLE, count_ - 1, world_), "MPI_Bcast");
  }

  void largest(std::span<double> values) override {
    checked(MPI_Allreduce(MPI_IN_PLACE, values.data(), counted(values.size()), MPI_DOUBLE, MPI_MAX, world_),
            "MPI_Allreduce");
  }

  std::vector<std::string> texts(const std::string& mine) override {
    const int size = counted(mine.size());
    std::vector<int> sizes(static_cast<std::size_t>(count_)), starts;
    checked(MPI_Allgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, world_), "MPI_Allgather");
    int total = 0;
    for (const int s : sizes) {
      starts.push_back(total);
      total += s;
    }
    std::string all(static_cast<std::size_t>(total), '\0');
    checked(MPI_Allgatherv(mine.data(), size, MPI_CHAR, all.data(), sizes.data(), starts.data(), MPI_CHAR, world_),
            "MPI_Allgatherv");
    std::vector<std::string> parts;
    for (std::size_t r = 0; r < sizes.size(); ++r)
      parts.push_back(all.substr(static_cast<std::size_t>(starts[r]), static_cast<std::size_t>(sizes[r])));
    return parts;
  }

  std::unique_ptr<Transport> transport(const Graph& graph, const Blocks& blocks, const ValueSize& size) override {
    return std::make_unique<MpiTransport>(world_, graph, blocks, size);
  }

  void abandon(int exit_code) override { MPI_Abort(world_, exit_code); }

 private:
  static constexpr int turn = 1;  // message tag

  // Started without MPI's help, every process would be rank 0 of a job of its own.
  void check_alone() const {
    for (const char* name : {"SLURM_STEP_NUM_TASKS", "PMI_SIZE"})
      if (const char* tasks = std::getenv(name); count_ == 1 && tasks != nullptr && std::atoi(tasks) > 1) {
        MPI_Finalize();
        throw Error({.what = std::string("started as ") + tasks + " processes that do not know of each other",
                     .where = name,
                     .fix = "use mpirun, or srun --mpi=pmix where Slurm was built with PMIx"});
      }
  }

  // Ranks with the same text share these cores; a rank that is bound has its own.
  std::string host_and_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return "";
    allowed_ = CPU_COUNT(&set);
    std::string text(256, '\0');
    gethostname(text.data(), text.size() - 1);
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set)) text += " " + std::to_string(core);
    return text;
  }

  static int counted(std::size_t size) {
    expects(size < (std::size_t{1} << 31), "a size that MPI can count");
    return static_cast<int>(size);
  }

  MPI_Comm world_ = MPI_COMM_NULL;
  int rank_ = 0, count_ = 1;
  int allowed_ = 1, sharing_ = 1;  // cores, and how many ranks have just these
};

}  // namespace

std::unique_ptr<Ranks> make_mpi_ranks() {
  return std::make_unique<MpiRanks>();
}

}  // namespace parley::network
