#include "parley/network/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "parley/base/error.h"
#include "parley/base/message_test.h"
#include "parley/base/text.h"

namespace parley::network {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Pairs = std::vector<std::pair<int, int>>;

Graph graph(const std::string& shape, int nodes) {
  return make_graph({.graph = shape}, nodes);
}

TEST(Graph, WhoConnectsTheOthersIsFoundByTheGroupsThatAreLeftWithoutIt) {
  EXPECT_THAT(groups_without(graph("path", 5), 1), ElementsAre(3, 1));
  EXPECT_THAT(groups_without(graph("path", 5), 0), ElementsAre(4));
  EXPECT_THAT(groups_without(graph("star", 4), 0), ElementsAre(1, 1, 1));
  EXPECT_THAT(groups_without(graph("ring", 5), 3), ElementsAre(4));
  EXPECT_THAT(groups_without(graph("0-1,1-2,0-2,2-3,3-4,2-4", 5), 2), ElementsAre(2, 2));
}

TEST(Graph, ShapesHaveTheirEdges) {
  EXPECT_EQ(graph("ring", 5).edges(), (Pairs{{0, 1}, {0, 4}, {1, 2}, {2, 3}, {3, 4}}));
  EXPECT_EQ(graph("ring", 2).edges(), (Pairs{{0, 1}}));
  EXPECT_EQ(graph("path", 3).edges(), (Pairs{{0, 1}, {1, 2}}));
  EXPECT_EQ(graph("star", 4).degrees(), (std::vector<int>{3, 1, 1, 1}));
  EXPECT_EQ(graph("complete", 6).edges().size(), 15U);
  EXPECT_EQ(graph("grid", 6).edges(), (Pairs{{0, 1}, {0, 3}, {1, 2}, {1, 4}, {2, 5}, {3, 4}, {4, 5}}));
  for (const int n : {2, 3, 5, 7, 12, 13, 50}) EXPECT_NO_THROW(graph("grid", n)) << n;
}

TEST(Graph, NeighboursAreInAscendingOrderHoweverTheyWereGiven) {
  EXPECT_THAT(graph("3-0,3-2,1-3,2-3", 4).neighbours(3), ElementsAre(0, 1, 2));
}

TEST(Graph, RandomGraphsAreConnectedAndFixedByTheirSeed) {
  for (const std::string shape : {"random", "small-world"})
    for (const int n : {5, 20, 100}) {
      GraphOptions o{.graph = shape, .edge_probability = 0.3};
      EXPECT_EQ(make_graph(o, n).edges(), make_graph(o, n).edges());
      const auto first = make_graph(o, n).edges();
      o.graph_seed = 2;
      EXPECT_TRUE(n == 5 || make_graph(o, n).edges() != first);
    }
  EXPECT_THAT(message_of([] { make_graph({.graph = "random", .edge_probability = 0}, 5); }),
              HasSubstr("raise --edge-probability"));
}

TEST(Graph, ADisconnectedGraphNamesItsComponents) {
  EXPECT_THAT(message_of([] { graph("0-1,2-3", 5); }), HasSubstr("3 components; got {0, 1}, {2, 3}, {4}"));
}

TEST(Graph, WrongEdgesAreToldApart) {
  EXPECT_THAT(message_of([] { graph("0-7", 3); }), HasSubstr("names node 7 but there are 3 nodes"));
  EXPECT_THAT(message_of([] { graph("1-1,0-1", 2); }), HasSubstr("not its own neighbour"));
  EXPECT_THAT(message_of([] { graph("0-1-2", 3); }), HasSubstr("an edge is two nodes"));
  EXPECT_THAT(message_of([] { graph("rnig", 3); }), HasSubstr("did you mean 'ring'?"));
}

TEST(Graph, AnEdgeListFileIsReadWithLineNumbersInItsErrors) {
  const auto file = std::filesystem::temp_directory_path() / "parley-edges.txt";
  write_file(file, "# three hospitals\n0 1\n1,2   # the bridge\n\n");
  EXPECT_EQ(graph(file.string(), 3).edges(), (Pairs{{0, 1}, {1, 2}}));
  write_file(file, "0 1\n1 x\n");
  EXPECT_THAT(message_of([&] { graph(file.string(), 3); }), HasSubstr("parley-edges.txt:2: node is not a number"));
  std::filesystem::remove(file);
}

TEST(Graph, KnowsWhetherItIsBipartite) {
  for (const auto* yes : {"path", "star", "grid"}) EXPECT_TRUE(graph(yes, 6).bipartite()) << yes;
  EXPECT_TRUE(graph("ring", 6).bipartite());
  EXPECT_FALSE(graph("ring", 5).bipartite());
  EXPECT_FALSE(graph("complete", 3).bipartite());
}

TEST(Graph, TheLaplacianHasZeroRowSums) {
  const Graph g = graph("random", 12);
  EXPECT_EQ(g.laplacian(-1).rowwise().sum().norm(), 0);
  EXPECT_EQ(g.laplacian(1).rowwise().sum(), 2 * g.laplacian(1).diagonal());
}

}  // namespace
}  // namespace parley::network
