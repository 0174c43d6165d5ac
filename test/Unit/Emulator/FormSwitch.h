//===- FormSwitch.h - tests with a form disabled --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// test/tools/disabled_forms.py names a form to disable in BLOCKSCALE_DISABLED_FORM. In
// BLOCKSCALE_USED_FORMS it names a file to which each test adds the forms that its
// modules use, so that only the tests of a form need to run.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_EMULATOR_FORMSWITCH_H
#define BLOCKSCALE_TEST_UNIT_EMULATOR_FORMSWITCH_H

#include "blockscale/Emulator/Emulator.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <set>

namespace blockscale::emu::test {

inline std::vector<std::string> &usedForms() {
  static std::vector<std::string> used;
  return used;
}

/// A device under the switches. A kernel that lacks a form may never end.
inline std::unique_ptr<Device> makeDevice(Options options) {
  constexpr uint64_t kLimitOfDisabled = 100'000'000;
  if (const char *form = std::getenv("BLOCKSCALE_DISABLED_FORM"); form && !options.disabledForm) {
    options.disabledForm = form;
    if (!options.maxInstructions)
      options.maxInstructions = kLimitOfDisabled;
  }
  if (std::getenv("BLOCKSCALE_USED_FORMS"))
    options.usedForms = &usedForms();
  return Device::create(options);
}

inline Result<std::shared_ptr<Module>> load(Device &device, const std::string &ptx,
                                            const std::string &name) {
  auto module = device.load(ptx, name);
  if (const char *path = std::getenv("BLOCKSCALE_USED_FORMS")) {
    const auto *test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::ofstream file(path, std::ios::app);
    for (const std::string &form : std::set<std::string>(usedForms().begin(), usedForms().end()))
      file << test->test_suite_name() << "." << test->name() << "\t" << form << "\n";
    usedForms().clear();
  }
  return module;
}

} // namespace blockscale::emu::test

#endif // BLOCKSCALE_TEST_UNIT_EMULATOR_FORMSWITCH_H
