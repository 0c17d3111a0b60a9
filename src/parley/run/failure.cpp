#include "parley/run/failure.h"

#include "parley/privacy/random.h"
#include "parley/problem/solve.h"

namespace parley::run {

std::string reason_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const problem::Uncertified&) {
    return "uncertified";
  } catch (...) {
    return "failed";
  }
}

bool before_noise(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const privacy::NoEntropy&) {
    return true;
  } catch (...) {
    return false;
  }
}

privacy::Release unreleased(int node, int round, const algorithm::Schedule* holder) {
  privacy::Release nothing{.node = node, .round = round, .value = {}, .charge = {}};
  if (holder != nullptr && holder->touches_data(round)) nothing.charge = holder->private_round(round).charge;
  return nothing;
}

}  // namespace parley::run
