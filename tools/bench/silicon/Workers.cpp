//===- Workers.cpp - cases in processes of their own ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workers.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace blockscale::silicon {

namespace {

using Clock = std::chrono::steady_clock;

bool writeAll(int file, const void *from, size_t size) {
  const char *bytes = static_cast<const char *>(from);
  while (size > 0) {
    ssize_t written = write(file, bytes, size);
    if (written <= 0)
      return false;
    bytes += written;
    size -= size_t(written);
  }
  return true;
}

bool readAll(int file, void *to, size_t size) {
  char *bytes = static_cast<char *>(to);
  while (size > 0) {
    ssize_t got = read(file, bytes, size);
    if (got <= 0)
      return false;
    bytes += got;
    size -= size_t(got);
  }
  return true;
}

/// What goes before a result's text.
struct Header {
  uint64_t size;
  uint64_t isSpoiled;
};

struct Worker {
  pid_t process = 0;
  int jobs = -1, results = -1;
  size_t job = SIZE_MAX; // none
  Clock::time_point start;
};

[[noreturn]] void serve(int jobs, int results, const Work &work) {
  uint64_t job;
  while (readAll(jobs, &job, sizeof job)) {
    WorkerResult result = work(size_t(job));
    Header header{result.text.size(), result.isSpoiled};
    if (!writeAll(results, &header, sizeof header) ||
        !writeAll(results, result.text.data(), result.text.size()) || result.isSpoiled)
      break;
  }
  std::fflush(nullptr);
  _exit(0); // a spoiled driver may not survive its own end
}

bool startWorker(Worker &worker, std::vector<Worker> &all, const Work &work) {
  int jobs[2], results[2];
  if (pipe(jobs) || pipe(results))
    return false;
  std::fflush(nullptr);
  worker.process = fork();
  if (worker.process < 0)
    return false;
  if (worker.process == 0) {
    for (Worker &other : all) // a reader must see the end of its own pipe
      if (&other != &worker && other.jobs >= 0) {
        close(other.jobs);
        close(other.results);
      }
    close(jobs[1]);
    close(results[0]);
    serve(jobs[0], results[1], work);
  }
  close(jobs[0]);
  close(results[1]);
  worker.jobs = jobs[1];
  worker.results = results[0];
  worker.job = SIZE_MAX;
  return true;
}

/// How a worker ended that gave no result.
std::string stopWorker(Worker &worker, bool isLate) {
  if (isLate)
    kill(worker.process, SIGKILL);
  close(worker.jobs);
  close(worker.results);
  worker.jobs = worker.results = -1;
  int status = 0;
  waitpid(worker.process, &status, 0);
  if (isLate)
    return "not done within the time limit";
  if (WIFSIGNALED(status))
    return std::string("ended by signal ") + strsignal(WTERMSIG(status));
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

} // namespace

void runInWorkers(size_t jobs, size_t workers, double limitSeconds, const Work &work,
                  const Done &done) {
  signal(SIGPIPE, SIG_IGN);
  std::vector<Worker> all(std::max<size_t>(1, std::min(workers, jobs)));
  size_t next = 0, over = 0;
  auto finish = [&](Worker &worker, const std::string &text, const std::string &failure) {
    size_t job = worker.job;
    worker.job = SIZE_MAX;
    ++over;
    done(job, text, failure);
  };
  while (over < jobs) {
    std::vector<pollfd> files;
    std::vector<Worker *> owners;
    for (Worker &worker : all) {
      if (worker.job == SIZE_MAX && next < jobs) {
        if (worker.jobs < 0 && !startWorker(worker, all, work))
          continue;
        uint64_t job = next++;
        worker.job = size_t(job);
        worker.start = Clock::now();
        writeAll(worker.jobs, &job, sizeof job); // a dead worker shows when its result is read
      }
      if (worker.job != SIZE_MAX) {
        files.push_back({worker.results, POLLIN, 0});
        owners.push_back(&worker);
      }
    }
    if (files.empty()) { // no process to be had
      for (; next < jobs; ++next, ++over)
        done(next, "", "no worker could be started");
      continue;
    }
    poll(files.data(), nfds_t(files.size()), /*timeout=*/200);
    for (size_t i = 0; i < files.size(); ++i) {
      Worker &worker = *owners[i];
      if (files[i].revents == 0) {
        double seconds = std::chrono::duration<double>(Clock::now() - worker.start).count();
        if (seconds > limitSeconds) {
          std::string why = stopWorker(worker, /*isLate=*/true);
          finish(worker, "", why);
        }
        continue;
      }
      Header header;
      std::string text;
      bool isWhole = readAll(worker.results, &header, sizeof header);
      if (isWhole) {
        text.resize(header.size);
        isWhole = readAll(worker.results, text.data(), text.size());
      }
      std::string why;
      if (!isWhole || header.isSpoiled)
        why = stopWorker(worker, /*isLate=*/false);
      finish(worker, text, isWhole ? "" : why);
    }
  }
  for (Worker &worker : all)
    if (worker.jobs >= 0)
      stopWorker(worker, /*isLate=*/false);
}

} // namespace blockscale::silicon
