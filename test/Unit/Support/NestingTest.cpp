//===- NestingTest.cpp - how deep the text of an MLIR file nests ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Nesting.h"

#include <gtest/gtest.h>

#include <string>

using namespace blockscale::rt;

namespace {

std::string repeat(std::string_view part, size_t times, std::string_view before = "",
                   std::string_view after = "") {
  std::string text(before);
  for (size_t i = 0; i < times; ++i)
    text += part;
  return text.append(after);
}

TEST(Nesting, takesBracketsUpToTheMost) {
  for (const char *bracket : {"(", "[", "{", "<", "module {\n"}) {
    EXPECT_FALSE(findDeepNesting(repeat(bracket, kMaxMlirNesting))) << bracket;
    EXPECT_TRUE(findDeepNesting(repeat(bracket, kMaxMlirNesting + 1))) << bracket;
  }
  EXPECT_FALSE(findDeepNesting(repeat("module { tuple<[(i32)]> }\n", 4 * kMaxMlirNesting)));
}

TEST(Nesting, givesThePlace) {
  std::optional<DeepPlace> deep = findDeepNesting(repeat("[", 300, "module {\n\n\n\n  a = ", "\n"));
  ASSERT_TRUE(deep);
  EXPECT_EQ(deep->line, 5u);
  EXPECT_EQ(deep->column, 6 + kMaxMlirNesting);
  EXPECT_EQ(deep->what, "brackets within one another");
  deep = findDeepNesting(repeat("(", kMaxMlirNesting + 1));
  ASSERT_TRUE(deep);
  EXPECT_EQ(deep->line, 1u);
  EXPECT_EQ(deep->column, kMaxMlirNesting + 1);
}

TEST(Nesting, whatIsNoBracket) {
  size_t many = 2 * kMaxMlirNesting;
  EXPECT_FALSE(findDeepNesting(repeat("(", many, "\"\\\"", "\"")));
  EXPECT_TRUE(findDeepNesting(repeat("(", many, "\"\\\"\"")));
  EXPECT_FALSE(findDeepNesting(repeat("{", many, "// ", "\nmodule {}")));
  EXPECT_TRUE(findDeepNesting(repeat("{", many, "// comment\n")));
  // Comparisons in brackets: the bracket around them takes them away.
  EXPECT_FALSE(findDeepNesting(repeat("(d0 < 3)", many)));
  EXPECT_FALSE(findDeepNesting(repeat("d0 <= 3, d0 >= 3, ", many, "(", ")")));
  EXPECT_FALSE(findDeepNesting(repeat(")]}>", many)));
}

TEST(Nesting, aliasesCountAsWhatTheyStandFor) {
  for (const char *mark : {"#", "!"}) {
    auto chain = [&](size_t length) {
      std::string text = std::string(mark).append("a0 = [[]]\n");
      for (size_t i = 1; i < length; ++i) {
        text.append(mark).append("a").append(std::to_string(i)).append(" = [");
        text.append(mark).append("a").append(std::to_string(i - 1)).append("]\n");
      }
      return text;
    };
    EXPECT_FALSE(findDeepNesting(chain(kMaxMlirNesting - 1)));
    std::optional<DeepPlace> deep = findDeepNesting(chain(kMaxMlirNesting));
    ASSERT_TRUE(deep);
    EXPECT_EQ(deep->line, kMaxMlirNesting);
  }
  // Uses beside one another, and names that are no aliases.
  EXPECT_FALSE(findDeepNesting(repeat("#a, ", 2 * kMaxMlirNesting, "#a = [[]]\nf([", "])")));
  EXPECT_FALSE(findDeepNesting(repeat("f(#b, !c.d<3>)\n", 2 * kMaxMlirNesting)));
}

TEST(Nesting, operatorsOfOneExpression) {
  for (const char *part : {"-", "d0 + ", "d0*", "d0 mod ", "d0 floordiv ", "d0 ceildiv "}) {
    EXPECT_FALSE(findDeepNesting(repeat(part, kMaxMlirOperators, "(", "d0)"))) << part;
    std::optional<DeepPlace> deep =
        findDeepNesting(repeat(part, kMaxMlirOperators + 1, "(", "d0)"));
    ASSERT_TRUE(deep) << part;
    EXPECT_EQ(deep->what, "operators in one expression");
  }
  // Lists, regions, exponents and arrows.
  size_t many = 2 * kMaxMlirOperators;
  EXPECT_FALSE(findDeepNesting(repeat("-1, ", many, "[", "]")));
  EXPECT_FALSE(findDeepNesting(repeat("arith.constant -1 : i32\n", many, "{", "}")));
  EXPECT_FALSE(findDeepNesting(repeat("1.0e+00 2.5E-3 ", many, "[", "]")));
  EXPECT_FALSE(findDeepNesting(repeat("() -> ", many, "(", ")")));
}

} // namespace
