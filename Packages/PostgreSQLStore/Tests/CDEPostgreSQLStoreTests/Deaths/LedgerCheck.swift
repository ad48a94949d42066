#if PostgreSQL
  @_spi(CDE) import CDEExecutors
  @testable import CDEPostgreSQLStore
  import CDEStore
  import Foundation
  import Testing

  /// Compares a store with the ledgers of its writers, and its history with what an observer was told.
  final class LedgerCheck {
    let ledgers: [Ledger]
    private let connect: () throws -> Connection
    /// For each writer the steps that are known to be committed.
    private(set) var steps: [Int]
    /// The last transaction of the history that was compared.
    private var lastNumber: Int64 = 0
    /// Commits that were not acknowledged, because their writer was killed first.
    private(set) var unacknowledged = 0

    init(_ ledgers: [Ledger], connect: @escaping () throws -> Connection) {
      self.ledgers = ledgers
      self.connect = connect
      steps = ledgers.map { _ in 0 }
    }

    /// Compares everything. No writer may be at work.
    ///
    /// - Parameters:
    ///   - acknowledged: for each writer its last acknowledged step.
    ///   - mayHaveMore: whether a commit was under way when its writer was killed.
    func check(_ acknowledged: [Int], mayHaveMore: Bool, _ comment: Comment) throws {
      let connection = try connect()
      var authors: Set<String> = []
      for (index, ledger) in ledgers.enumerated() {
        let before = steps[index]
        steps[index] = try ledger.storedStep(connection)
        let extra = steps[index] - acknowledged[index]
        #expect(
          extra == 0 || mayHaveMore && extra == 1, "\(comment): \(ledger.writer) has \(extra) steps more")
        unacknowledged += max(extra, 0)
        let (found, expected) = (try ledger.storedState(connection), ledger.state(after: steps[index]))
        #expect(found.subtracting(expected) == [] && expected.subtracting(found) == [], comment)
        try #require(steps[index] >= before, comment)
        authors.formUnion((before..<steps[index]).map { ledger.author($0 + 1) })
      }
      // The history goes on without a gap, and each step is in it once, in its writer's order.
      let rows = try connection.run(
        #"SELECT "Z_PK", "ZAUTHOR" FROM "ATRANSACTION" WHERE "Z_PK" > \#(lastNumber) ORDER BY "Z_PK""#,
        while: "Reading for a test")
      let numbers = (0..<rows.count).map { rows.integer($0, 0) }
      #expect(numbers == Array(lastNumber + 1..<lastNumber + 1 + Int64(rows.count)), comment)
      let found = (0..<rows.count).map { rows.text($0, 1) ?? "" }.filter { author in
        ledgers.contains { author.hasPrefix($0.writer + " ") }
      }
      #expect(Set(found) == authors && found.count == authors.count, comment)
      for ledger in ledgers {
        let own = found.filter { $0.hasPrefix(ledger.writer + " ") }.map {
          Int($0.split(separator: " ")[1]) ?? 0
        }
        #expect(own == own.sorted(), comment)
      }
      lastNumber += Int64(rows.count)
    }

    /// The last transaction of the history that was compared.
    var historyEnd: Int64 { lastNumber }
  }

  /// What an observer of other writers' commits was told.
  final class ObservedCommits: Sendable {
    private let numbers = Lock<[Int64]>([])
    private let arrival = DispatchSemaphore(value: 0)
    private let first: Int64

    /// Begins to observe. The store must make no commits itself.
    ///
    /// - Parameter last: the last transaction before.
    init(_ store: PostgreSQLStore, from last: Int64 = 0) throws {
      first = last + 1
      let reason = try store.observeOthers { [self] commits in
        numbers.withLock { $0 += (commits.transactions ?? []).map(\.number) }
        return { [self] in _ = arrival.signal() }
      }
      #expect(reason == nil)
    }

    /// Waits until a transaction was reported, and makes sure that all before it were reported once and in order.
    func expect(through last: Int64, _ comment: Comment) {
      while numbers.withLock({ $0.last ?? first - 1 }) < last {
        if arrival.wait(timeout: .now() + 20) == .timedOut { break }
      }
      let found = numbers.withLock { $0 }
      #expect(found.last ?? first - 1 == last, "\(comment): \(last) was not reported")
      #expect(
        zip(found, found.dropFirst()).allSatisfy { $0 + 1 == $1 } && found.first ?? first == first, comment)
    }
  }
#endif
