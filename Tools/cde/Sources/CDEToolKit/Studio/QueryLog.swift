@_spi(CDE) import CDEModelRuntime
@_spi(CDE) import CDEStore
import Foundation
import Synchronization

/// The fetches of the pages, with their times and statements. Of fetches of the same text one entry is kept.
final class QueryLog: StoreActivityObserver {
  /// A fetch of a page.
  struct Entry: Sendable {
    let number: Int
    let text: String
    /// The query, if the fetch was one of rows.
    let query: StudioQuery?
    var runs: Int
    var slowest: Duration
    var latest: Duration
    /// The statements of the slowest run, with their values.
    var statements: [ObservedStatement]
  }

  private struct Entries {
    var byText: [String: Entry] = [:]
    var number = 0
  }

  private final class Recording: Sendable {
    let statements = Mutex<[ObservedStatement]>([])
  }

  @TaskLocal private static var recording: Recording?

  private let entries = Mutex(Entries())
  /// Entries beyond this number are dropped, the fastest first.
  private let limit: Int

  init(limit: Int = 200) { self.limit = limit }

  // MARK: Observing

  let wantsValues = true

  func didRun(_ request: ObservedRequest) {
    if request.kind != .read { return }
    Self.recording?.statements.withLock { $0 += request.statements }
  }

  func didFire(_ fault: FiredFault) {}

  // MARK: Recording

  /// Runs a fetch of a page, and notes its time and its statements.
  func timing<Value>(_ text: String, _ query: StudioQuery?, _ body: () throws -> Value) rethrows -> Value {
    let recording = Recording()
    let start = ContinuousClock.now
    let value = try Self.$recording.withValue(recording, operation: body)
    note(text, query, ContinuousClock.now - start, recording.statements.withLock { $0 })
    return value
  }

  private func note(
    _ text: String, _ query: StudioQuery?, _ time: Duration, _ statements: [ObservedStatement]
  ) {
    // Rows that were read before need no statement.
    if statements.isEmpty { return }
    entries.withLock { entries in
      if var known = entries.byText[text] {
        known.runs += 1
        known.latest = time
        if time > known.slowest {
          known.slowest = time
          known.statements = statements
        }
        entries.byText[text] = known
        return
      }
      entries.number += 1
      entries.byText[text] = Entry(
        number: entries.number, text: text, query: query, runs: 1, slowest: time, latest: time,
        statements: statements)
      if entries.byText.count > limit,
        let fastest = entries.byText.values.min(by: { $0.slowest < $1.slowest })
      {
        entries.byText[fastest.text] = nil
      }
    }
  }

  /// The entries, the slowest first.
  var slowest: [Entry] {
    entries.withLock { $0.byText.values.sorted { ($1.slowest, $0.number) < ($0.slowest, $1.number) } }
  }
}

extension Studio {
  /// The slowest fetches of the pages.
  public func slowQueries(limit: Int = 50) throws -> JSONValue {
    .array(
      log.slowest.prefix(limit).map { entry in
        .object([
          .init("number", .int(entry.number)), .init("text", .string(entry.text)),
          .init("runs", .int(entry.runs)),
          .init("slowest", .number(Explanation.milliseconds(entry.slowest))),
          .init("latest", .number(Explanation.milliseconds(entry.latest))),
          .init("statements", .int(entry.statements.reduce(0) { $0 + $1.runs })),
          .init(
            "query",
            entry.query.map { query in
              .object([
                .init("entity", .string(query.entity)), .init("where", .string(query.predicate)),
                .init("sort", .string(query.sort.joined(separator: ","))),
                .init("of", query.owner.map { .string($0) } ?? .null),
              ])
            } ?? .null),
        ])
      })
  }

  /// The statements of a fetch with the plan for each, and an index that would help.
  public func plan(_ number: Int) throws -> JSONValue {
    guard let entry = log.slowest.first(where: { $0.number == number }) else {
      throw StudioFailure(.missing, "This query is no longer in the list. Open the list again.")
    }
    let store = try state().store
    var statements = entry.statements.map { (sql: $0.sql, runs: $0.runs, steps: [StatementPlan.Step]?.none) }
    var index: JSONValue = .null
    switch place {
    case .file(let url):
      let raw = try RawFile(url)
      try raw.addFunctions()
      for place in statements.indices {
        statements[place].steps = try QueryPlan(statements[place].sql, raw).steps
      }
    case .server:
      // A server explains a fetch with its parameters, and not a text with values.
      if let query = entry.query {
        let request = try query.request(store)
        statements = try store.readAnew { try $0.explain(request).statements }.map { ($0.sql, 1, $0.steps) }
      }
    }
    if statements.contains(where: { $0.steps?.contains { $0.access == .scan } == true }),
      let query = entry.query
    {
      var explanation = Explanation(entity: query.entity)
      explanation.predicate = query.predicate.isEmpty ? nil : query.predicate
      explanation.sort = query.sort
      let found = try explanation.suggestion(store, try store.entity(named: query.entity))
      index = found.map { .string($0.xml) } ?? .null
    }
    return .object([
      .init("text", .string(entry.text)),
      .init(
        "statements",
        .array(
          statements.map { statement in
            .object([
              .init("sql", .string(statement.sql)), .init("runs", .int(statement.runs)),
              .init(
                "plan",
                statement.steps.map { steps in
                  .array(
                    steps.map { step in
                      .object([
                        .init("depth", .int(step.depth)), .init("detail", .string(step.detail)),
                        .init("scan", .bool(step.access == .scan)),
                      ])
                    })
                } ?? .null),
            ])
          })),
      .init("index", index),
    ])
  }
}
