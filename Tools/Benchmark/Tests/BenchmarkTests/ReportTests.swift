import Benchmark
import Foundation
import Testing

@Suite("The benchmark's reports")
struct ReportTests {
  private func rounds(_ figures: [Contender.Side: [Double]]) -> Rounds {
    var rounds = Rounds()
    rounds.figures = figures
    return rounds
  }

  @Test("Ids and names are unique, and no name is an id of another row")
  func names() {
    let ids = RowID.allCases.map(\.rawValue) + GrowthID.allCases.map(\.rawValue)
    let names = RowID.allCases.map(\.name) + GrowthOperation.allCases.map(\.name)
    #expect(Set(ids + names).count == ids.count + names.count)
  }

  @Test("The verdict compares with raw*, not with SQLite in its default configuration")
  func verdict() {
    // The target is 2.0: raw alone would say met.
    let result = RowResult(.a, rounds([.ours: [500], .raw: [400], .rawTuned: [200], .grdb: [1000]]))
    #expect(result.measured == 2.5)
    #expect(result.ratioToGRDB == 0.5)
    #expect(result.verdict == .missed)
    #expect(RowResult(.a, rounds([.ours: [400], .rawTuned: [200]])).verdict == .met)
    #expect(RowResult(.a, rounds([.ours: [400], .raw: [200]])).verdict == nil)
    #expect(RowResult(.a).verdict == nil)
  }

  @Test("A verdict says nothing when what ours is compared with spreads by more than a tenth")
  func unsettled() {
    func verdict(_ row: RowID, _ side: Contender.Side, _ figures: [Double]) -> Verdict? {
      RowResult(row, rounds([.ours: figures.map { _ in 1 }, side: figures])).verdict
    }
    #expect(verdict(.a, .rawTuned, [100, 95, 105]) == .met)
    #expect(verdict(.a, .rawTuned, [100, 94, 105]) == .unsettled)
    #expect(verdict(.dbRead, .grdb, [100, 94, 105]) == .unsettled)
    #expect(verdict(.wake, .reference, [100, 94, 105]) == .unsettled)
    // Its target is a number of bytes, but where raw* is not steady, neither is the machine.
    #expect(verdict(.i, .rawTuned, [100, 94, 105]) == .unsettled)
    // Ours may spread: the median of the ratios stands for it.
    let ours = RowResult(.a, rounds([.ours: [100, 180, 400], .rawTuned: [100, 100, 100]]))
    #expect(ours.verdict == .met)
  }

  @Test("Growth is the largest size's time over the smallest one's, round by round")
  func growth() {
    let result = GrowthResult(
      .find, [.tenThousand: [10, 10.5, 10], .hundredThousand: [11, 11, 11], .million: [15, 21, 14]])
    #expect(result.growth == 1.5)
    #expect(result.verdict == .met)
    #expect(GrowthResult(.find, [.tenThousand: [10], .million: [16]]).verdict == .missed)
    #expect(GrowthResult(.find, [.tenThousand: [10, 12], .million: [10, 12]]).verdict == .unsettled)
    #expect(GrowthResult(.find, [.million: [16]]).verdict == nil)
    #expect(GrowthResult(.find, [:]).verdict == nil)
  }

  @Test("A line of the table has the name, the figures side by side and the verdict")
  func table() {
    let table = Table(isSmoke: false)
    let result = RowResult(.d, rounds([.ours: [180], .raw: [250], .rawTuned: [150], .grdb: [600]]))
    #expect(
      table.line(result).split(whereSeparator: { $0 == " " }).joined(separator: " ")
        == "fetch a category's items by index, cold 180 150 600 1.20 0.30 1.00 MISSED 250")
    let wake = RowResult(.wake, rounds([.ours: [105], .reference: [100]]))
    #expect(
      table.line(wake).split(whereSeparator: { $0 == " " }).joined(separator: " ")
        == "wake one reader among 10,000 105 100 1.05 1.10 met @Observable, alone")
    #expect(Table(isSmoke: true).line(result).contains(" ran "))
  }

  @Test("Columns stand below their heads for every row")
  func columns() throws {
    let table = Table(isSmoke: false)
    for row in RowID.allCases {
      let head = Array(table.header(row.section).split(separator: "\n")[0])
      let line = Array(table.line(RowResult(row, rounds([.ours: [1234.5], .rawTuned: [1000]]))))
      let column = try #require((0..<head.count).first { String(head[$0...]).hasPrefix("ours") })
      #expect(String(line[column...]).hasPrefix("1234"), "\(row)")
      #expect(line[column - 1] == " ")
    }
  }

  @Test("The JSON report keeps the ids, and all objects have the same keys")
  func json() throws {
    let report = JSONReport(
      results: RowID.allCases.map { RowResult($0) },
      growth: [GrowthResult(.save, [.tenThousand: [10], .hundredThousand: [12]])], isSmoke: false)
    let objects = try #require(
      try JSONSerialization.jsonObject(with: JSONEncoder().encode(report)) as? [[String: Any]])
    #expect(Set(objects.map { Set($0.keys) }).count == 1)
    #expect(
      objects.compactMap { $0["row"] as? String }
        == RowID.allCases.map(\.rawValue) + ["grow-save-10k", "grow-save-100k", "grow-save-1m"])
    let largest = objects[objects.count - 2]
    #expect(largest["ratioToReference"] as? Double == 1.2)
    #expect(largest["verdict"] as? String == "met")
    #expect(objects[objects.count - 1]["ours"] is NSNull)
  }

  @Test("Plots call rows by their names")
  func plots() {
    let bars = Plot(results: [RowResult(.c, rounds([.ours: [1], .rawTuned: [2]])), RowResult(.d)]).svg
    #expect(bars.contains(">fetch all, nothing read<"))
    #expect(bars.contains("0.50 of 0.75 × raw*"))
    #expect(!bars.contains("by index"))
    let lines = GrowthPlot(results: [GrowthResult(.fetch, [.tenThousand: [10], .million: [30]])]).svg
    #expect(lines.contains("3.00  fetch of 100 objects by an indexed attribute"))
    #expect(lines.contains(">1,000,000 objects<"))
  }

  @Test("A row over a server compares with libpq by hand, and the plot has saves a second")
  func server() throws {
    let save = ServerResult(.save, rounds([.ours: [300, 330], .raw: [200, 200]]))
    #expect(save.ratio == 1.575 && save.verdict == .met)
    #expect(ServerReport.line(save, isSmoke: false).hasSuffix("1.57      1.60      met      "))
    #expect(ServerResult(.save, rounds([.ours: [400], .raw: [200]])).verdict == .missed)
    #expect(ServerResult(.wake, rounds([.ours: [2_000_001]])).verdict == .missed)
    #expect(ServerResult(.wake, rounds([.ours: [1_999_999]])).verdict == .met)
    let writers = [1, 2].map {
      ServerResult(.writers, writers: $0, rounds([.ours: [100_000 / Double($0)], .raw: [50_000]]))
    }
    let svg = WritersPlot(results: [save] + writers).svg
    // At most 20,000 saves a second: two writers of ours reach what the code by hand does.
    #expect(
      svg.contains("points=\"70.0,170.0 490.0,40.0\"") && svg.contains("points=\"70.0,40.0 490.0,40.0\""))
    let json = try JSONDecoder().decode(
      [[String: Figure]].self, from: try ServerReport.json(writers, isSmoke: false))
    #expect(
      json[1]["writers"]?.number == 2 && json[1]["ours"]?.number == 50_000 && json[1]["ratio"]?.number == 1)
  }

  /// A figure of a report, or text.
  private struct Figure: Decodable {
    let number: Double?
    init(from decoder: any Decoder) throws {
      number = try? decoder.singleValueContainer().decode(Double.self)
    }
  }
}
