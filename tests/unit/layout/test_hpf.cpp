// SPDX-License-Identifier: BSD-3-Clause
// Whole HPF listings.
#include <gtest/gtest.h>

#include <functional>

#include "hocket/layout.hpp"

using hocket::Layout;
using hocket::LayoutError;
using hocket::Shape;

namespace {

std::string message_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const LayoutError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST(Hpf, a_distributed_fft) {
    const auto found = Layout::from_hpf(R"(
!HPF$ processors pr(8)
      complex A(8, 8)
!HPF$ distribute A(BLOCK,*)
      do i = 1, 100
        call read(A)
        A = transpose(A)
      end do
)");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].first, "A");
    EXPECT_TRUE(found[0].second == Layout({8, 8}, "(BLOCK,*)", {8}));
}

TEST(Hpf, names_with_values_from_the_caller) {
    const auto found = Layout::from_hpf(R"(
!HPF$ processors pr(P)
  real From(N,N), To(N,N)
!HPF$ distribute From(BLOCK,*), To(*,BLOCK)
  if (myid .eq. 0) then
)",
                                        {{"n", 12}, {"P", 3}});
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[1].first, "To");
    EXPECT_TRUE(found[0].second == Layout({12, 12}, "(BLOCK,*)", {3}));
    EXPECT_TRUE(found[1].second == Layout({12, 12}, "(*,BLOCK)", {3}));
}

TEST(Hpf, each_program_unit_has_its_own_names) {
    const auto found = Layout::from_hpf(R"(
!hpf$ processors pr(24)
end
      PROCESS sender(po)
!hpf$ processors pr(16)
      real a(128,128)
!hpf$ distribute a(block,*)
      do i = 1,10
      enddo
end
      PROCESS receiver(pi)
!hpf$ processors pr(8)
      real b(128,128)
!hpf$ distribute b(*,block)
end
)");
    ASSERT_EQ(found.size(), 2U);
    EXPECT_TRUE(found[0].second == Layout({128, 128}, "(BLOCK,*)", {16}));
    EXPECT_TRUE(found[1].second == Layout({128, 128}, "(*,BLOCK)", {8}));
}

TEST(Hpf, templates_alignments_and_bounds_count_from_one) {
    const auto found = Layout::from_hpf(R"(
      integer, parameter :: n = 10, m = 2*n + 1
      real, dimension(n, n) :: a, d
      real*8 b(0:n-1), c(n)   ! b counts from 0
      double precision e(n)
!HPF$ PROCESSORS grid(2, 3), line(4)
!HPF$ TEMPLATE t(m, n, 4)
!HPF$ DISTRIBUTE t(CYCLIC(n/5), BLOCK, *) ONTO grid
!HPF$ ALIGN a(i, j) WITH t(2*j + 1, i, *)
!HPF$ ALIGN b(i) WITH &
!HPF$&  t(2*i + 3, 4, 1)
!HPF$ ALIGN (:) WITH a(*, :) :: c
!HPF$ ALIGN WITH a :: d
!HPF$ DISTRIBUTE (BLOCK) ONTO line :: e
!HPF$ INDEPENDENT
)");
    ASSERT_EQ(found.size(), 5U);
    const Layout t({21, 10, 4}, "(CYCLIC(2), BLOCK, *)", {2, 3});
    EXPECT_TRUE(found[0].second == Layout::aligned({10, 10}, "A(i,j) WITH T(2*j+2, i, *)", t));
    EXPECT_TRUE(found[1].second == Layout::aligned({10}, "B(i) WITH T(2*i+2, 3, 0)", t));
    EXPECT_TRUE(found[2].second == Layout::aligned({10}, "C(i) WITH A(*, i)", found[0].second));
    EXPECT_TRUE(found[3].second == found[0].second);
    EXPECT_TRUE(found[4].second == Layout({10}, "(BLOCK)", {4}));
}

TEST(Hpf, fixed_form) {
    const auto found = Layout::from_hpf(
        "C     a comment, which says DIMENSION X(3)\n"
        "*     another\n"
        "CHPF$ PROCESSORS PR(2,\n"
        "CHPF$1  NUMBER_OF_PROCESSORS()/2)\n"
        "      REAL A(8, 8),\n"
        "C     in between\n"
        "     &     B(8),\n"
        "     1     D(8)\n"
        "   10 CONTINUE\n"
        "*HPF$ DISTRIBUTE A(BLOCK, CYCLIC)\n"
        "*HPF$X  ONTO PR\n"
        "!hpf$ align b(i)\n"
        "!hpf$+  with a(9-i, *)\n"
        "CHPF$ ALIGN D(I) WITH A(*, I)\n",
        {{"number_of_processors", 6}});
    ASSERT_EQ(found.size(), 3U);
    const Layout a({8, 8}, "(BLOCK, CYCLIC)", {2, 3});
    EXPECT_TRUE(found[0].second == a);
    EXPECT_TRUE(found[1].second == Layout::aligned({8}, "B(i) WITH A(7-i, *)", a));
    EXPECT_TRUE(found[2].second == Layout::aligned({8}, "D(i) WITH A(*, i)", a));
}

TEST(Hpf, free_form_may_begin_anywhere) {
    const auto found = Layout::from_hpf(
        "     real a(4)\n     10 continue\ncomplex b(4)\n!HPF$distribute a(*)\n"
        "  !HPF$ distribute b(*)\n");
    ASSERT_EQ(found.size(), 2U);
}

TEST(Hpf, what_is_wrong_is_said_with_its_line) {
    const auto says = [](const char* text, const std::string& part) {
        const std::string message = message_of([&] { Layout::from_hpf(text); });
        EXPECT_NE(message.find(part), std::string::npos) << message;
    };
    says("real a(4)", "distributes and aligns no array");
    says("!HPF$ distribut a(BLOCK)",
         "HPF directive in line 1: expected PROCESSORS, TEMPLATE, DISTRIBUTE or ALIGN (did you "
         "mean 'DISTRIBUTE'?) at character 1\ndistribut a(BLOCK)\n^");
    says("real a(4)\n!HPF$ distribute a(BLOK)", "line 2");
    says("real a(4)\n!HPF$ distribute a(BLOK)", "\ndistribute a(BLOK)\n             ^");
    says("real a(n)\n!HPF$ distribute a(*)", "extents of a in line 1");
    says("real b(4)\n!HPF$ distribute a(*)", "names A, which no line declares");
    says("real a(4)\n!HPF$ distribute a(BLOCK)", "add '!HPF$ PROCESSORS");
    says("real a(4)\n!HPF$ processors p(2), q(2)\n!HPF$ distribute a(BLOCK)", "say which: ONTO p");
    says("real a(4)\n!HPF$ processors p(2)\n!HPF$ distribute a(BLOCK) ONTO r",
         "no PROCESSORS directive declares");
    says("real a(4)\n!HPF$ processors p(2)\n!HPF$ distribute a(BLOCK, *)", "line 3, a: ");
    says("real a(4)\n!HPF$ align a(i) with t(i)", "names T, which no line declares");
    says("real a(4), b(4)\n!HPF$ align a(i) with b(i)", "which no line distributes");
    says("real a(4), b(4)\n!HPF$ align a(i) with b(i)\n!HPF$ align b(i) with a(i)",
         "comes back to itself");
    says("real a(4), b(5)\n!HPF$ distribute a(*)\n!HPF$ align b with a", "index by index");
    says("real a(4), b(5)\n!HPF$ distribute a(*)\n!HPF$ align b(i) with a(i)", "line 3, b: ");
    says("real a(4)\n!HPF$ distribute a(*)\n!HPF$ distribute a(*)", "line 2 has one already");
}
