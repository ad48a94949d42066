#if PostgreSQL
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDESQLiteFaults
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation

  /// One of several processes that write to one store at the same time.
  struct ProcessWriter {
    /// What a process did, and what it has in the end.
    struct Report: Codable {
      /// For each counter how often this process raised it.
      var raised: [Int]
      var newValues = 0
      var removedValues = 0
      var newItems = 0
      var removedItems = 0
      var commits = 0
      var conflicts = 0
      var refusals = 0
      /// Errors that other writers don't explain.
      var faults: [String] = []
      var graph: [String] = []
    }

    static let counterCount = 4
    static let tagCount = 4
    /// Names of unique values: few, so that the processes want the same.
    private static let nameCount = 60

    private let store: PostgreSQLStore
    private let replica: Replica
    private let process: Int
    private var random: SplitMix
    private(set) var report: Report
    private var steps = 0

    init(_ store: PostgreSQLStore, process: Int, seed: UInt64) throws {
      self.store = store
      self.process = process
      replica = try Replica(store)
      random = SplitMix(seed: seed &+ UInt64(process) &* 7919)
      report = Report(raised: Array(repeating: 0, count: Self.counterCount))
    }

    /// Makes what the processes share: counters under the first keys of items, and tags.
    static func prepare(_ store: PostgreSQLStore) throws {
      try store.insert(
        "Item",
        (0..<counterCount).map {
          Draft(key: -1 - Int64($0), values: ["title": .text("counter"), "big": .integer(0)])
        })
      try store.insert("Tag", (0..<tagCount).map { Draft(key: -1 - Int64($0), values: ["name": .text("t")]) })
    }

    mutating func step() throws {
      steps += 1
      try replica.refresh()
      do throws(StoreError) {
        switch Int.random(in: 0..<100, using: &random) {
        case ..<40: try raiseCounter()
        case ..<55: try insertValue()
        case ..<65: try renameValue()
        case ..<75: try removeValue()
        case ..<85: try insertItem()
        case ..<95: try changeLink()
        default: try removeItem()
        }
        report.commits += 1
      } catch {
        // Each error has to name the other writer's doing.
        switch error.code {
        case .conflict where !error.conflicts.isEmpty: report.conflicts += 1
        case .uniqueness where error.entity == "Category" && error.properties == ["name", "code"]:
          report.refusals += 1
        case .danglingReference where !error.references.isEmpty: report.refusals += 1
        default: report.faults.append("step \(steps): \(error)")
        }
      }
    }

    /// Tells the others that this process has ended its steps, and waits for all of theirs.
    mutating func finish(processes: Int) throws -> Report {
      replica.note(
        "Owner", try store.insert("Owner", [Draft(key: -1, values: ["name": .text("done \(process)")])]))
      while true {
        try replica.refresh()
        if replica.rows[store.index("Owner")]?.count == processes { break }
        guard replica.waitForReport() else {
          report.faults.append("The last commits of other processes were not reported.")
          break
        }
      }
      report.graph = replica.lines()
      return report
    }

    // MARK: Steps

    private mutating func raiseCounter() throws(StoreError) {
      let counter = Int.random(in: 0..<Self.counterCount, using: &random)
      let key = Int64(counter) + 1
      // Read from the server: the copy is often too old for so few counters.
      guard let row = try store.row(entity: store.index("Item"), key: key),
        let count = store.describe(row.batch, row.row)["big"].flatMap({ Int64($0) })
      else { throw StoreError(.unreadable, "The counter \(key) is missing.") }
      let raised = Draft(key: key, version: row.version + 1, values: ["big": .integer(count + 1)])
      try store.commit { $0.updated = [store.update("Item", [raised], "big")] }
      report.raised[counter] += 1
      replica.note("Item", [key])
    }

    private mutating func value() -> [String: Draft.Value] {
      ["name": .text("u\(Int.random(in: 0..<Self.nameCount, using: &random))"), "code": .integer(1)]
    }

    private mutating func insertValue() throws(StoreError) {
      replica.note("Category", try store.insert("Category", [Draft(key: -1, values: value())]))
      report.newValues += 1
    }

    private mutating func randomRow(
      _ entity: String, _ isWanted: (Replica.Row) -> Bool = { _ in true }
    ) -> (key: Int64, version: Int64)? {
      let rows = replica.rows[store.index(entity)] ?? [:]
      // In an order that does not depend on hashes.
      let keys = rows.filter { isWanted($0.value) }.keys.sorted()
      return keys.randomElement(using: &random).map { ($0, rows[$0]!.version) }
    }

    private mutating func renameValue() throws(StoreError) {
      guard let (key, version) = randomRow("Category") else { return }
      let renamed = Draft(key: key, version: version + 1, values: value())
      defer { replica.note("Category", [key]) }
      try store.commit { $0.updated = [store.update("Category", [renamed], "name")] }
    }

    private mutating func removeValue() throws(StoreError) {
      guard let (key, version) = randomRow("Category") else { return }
      defer { replica.note("Category", [key]) }
      try store.commit { $0.deleted = [store.deletion("Category", key, version: version)] }
      report.removedValues += 1
    }

    private mutating func insertItem() throws(StoreError) {
      let batch = store.batch(
        "Item", [Draft(key: -1, values: ["title": .text("item"), "big": .integer(Int64(steps))])])
      let link = link(.add, -1)
      try store.commit {
        $0.inserted = [batch]
        $0.links = [link]
      }
      replica.note("Item", [batch.key(0)])
      report.newItems += 1
    }

    private mutating func link(_ kind: LinkChange.Kind, _ item: Int64) -> LinkChange {
      LinkChange(
        kind: kind, entity: store.index("Item"), slot: store.slot("Item", "tags"), owner: item,
        member: Int64.random(in: 1...Int64(Self.tagCount), using: &random))
    }

    private mutating func changeLink() throws(StoreError) {
      guard let (key, _) = randomRow("Item", { $0.name == "item" }) else { return }
      let link = link(Bool.random(using: &random) ? .add : .remove, key)
      defer { replica.note("Item", [key]) }
      try store.commit { $0.links = [link] }
    }

    private mutating func removeItem() throws(StoreError) {
      guard let (key, version) = randomRow("Item", { $0.name == "item" }) else { return }
      defer { replica.note("Item", [key]) }
      try store.commit { $0.deleted = [store.deletion("Item", key, version: version)] }
      report.removedItems += 1
    }
  }
#endif
