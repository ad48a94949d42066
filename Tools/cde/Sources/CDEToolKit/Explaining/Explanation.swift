import CDEManagedModel
@_spi(CDE) import CDEModelRuntime
import CDEPredicates
@_spi(CDE) import CDEStore
import Foundation

/// How a store answers a fetch: its SQL, SQLite's plan, and an index that would help.
public struct Explanation {
  public var entity: String
  public var predicate: String?
  public var sort: [String] = []
  /// The greatest number of objects to fetch; 0 for all.
  public var limit = 0
  /// The server's schema with the store's tables; nil for the usual one.
  public var schema: String?
  /// Whether values stand as `?`.
  public var isRedacted = false

  public init(entity: String) { self.entity = entity }

  /// The answer of `cde explain`. The fetch runs once; the store stays as it is.
  public func answer(_ place: StorePlace, model: NSManagedObjectModel? = nil) throws -> Answer {
    // A file's plan is that of the statement as it ran, with its values.
    let recorder = RecordedStatements(wantsValues: true)
    let store = try OpenedStore(place, model: model, schema: schema) { $0.observer = recorder }
    let description = try store.entity(named: entity)
    let request = try store.request(description, predicate: predicate, sort: sort, limit: limit)
    recorder.clear()
    var count = 0
    let duration = try ContinuousClock().measure { count = try store.read { try $0.fetch(request).count } }
    let ran = recorder.reads
    let plans: [StatementPlan]
    switch place {
    case .file(let url):
      let raw = try RawFile(url)
      try raw.addFunctions()
      plans = try ran.flatMap(\.statements).map { statement in
        StatementPlan(
          sql: isRedacted ? Self.redacted(statement.sql) : statement.sql,
          steps: try QueryPlan(statement.sql, raw).steps.map(redacting))
      }
    case .server:
      plans = try store.read { try $0.explain(request).statements }.map { plan in
        StatementPlan(sql: plan.sql, steps: plan.steps.map(redacting))
      }
    }
    let scans = plans.reduce(0) { $0 + $1.scans.count }
    let facts = Facts(
      plans: plans, count: count, all: try store.count(description), duration: duration,
      waiting: ran.reduce(.zero) { $0 + $1.waiting }, engine: ran.reduce(.zero) { $0 + $1.duration },
      read: Self.scannedRows(ran),
      suggestion: scans > 0 ? try suggestion(store, description) : nil)
    return facts.answer(description.name ?? "")
  }

  private func redacting(_ step: StatementPlan.Step) -> StatementPlan.Step {
    guard isRedacted else { return step }
    return StatementPlan.Step(
      depth: step.depth, detail: Self.redacted(step.detail), access: step.access, index: step.index)
  }

  /// How many rows the statements read in scans of whole tables; nil if the engine does not tell.
  private static func scannedRows(_ requests: [ObservedRequest]) -> Int? {
    let known = requests.flatMap(\.statements).compactMap(\.scannedRows)
    return known.isEmpty ? nil : known.reduce(0, +)
  }

  /// What the answer says.
  private struct Facts {
    let plans: [StatementPlan]
    let count: Int
    /// Of an entity's table, a scan reads the rows of its sub-entities and parents as well.
    let all: Int
    let duration: Duration
    /// The part of the duration in which others had the connection or the file.
    let waiting: Duration
    /// The engine's part of the duration.
    let engine: Duration
    let read: Int?
    let suggestion: Suggestion?

    func answer(_ entity: String) -> Answer {
      var text = ""
      for plan in plans {
        text += "SQL    \(plan.sql)\n"
        for step in plan.steps {
          text +=
            "PLAN   \(String(repeating: "  ", count: step.depth))\(step.access == .scan ? "scan   " : "       ")\(step.detail)\n"
        }
      }
      text += "ROWS   \(count) of \(all) objects of \(entity)"
      if let read { text += ", \(read) rows read in scans" }
      text +=
        "\nTIME   \(milliseconds(duration)) ms: \(milliseconds(waiting)) waiting, \(milliseconds(engine)) in the store, "
      text += "\(milliseconds(max(duration - waiting - engine, .zero))) for the query and the objects\n"
      if let suggestion {
        text +=
          "INDEX  \(suggestion.xml)\n       in \(suggestion.entity) of the model turns a scan into a search.\n"
      } else if plans.contains(where: { !$0.scans.isEmpty }) {
        text += "INDEX  none helps: no attribute is compared in a way that an index answers.\n"
      }
      return Answer([.text(text)], json: json, hasFindings: false)
    }

    private func milliseconds(_ duration: Duration) -> String { Explanation.milliseconds(duration) }

    private var json: JSONValue {
      .object([
        .init(
          "statements",
          .array(
            plans.map { plan in
              .object([
                .init("sql", .string(plan.sql)),
                .init(
                  "plan",
                  .array(
                    plan.steps.map { step in
                      .object([
                        .init("depth", .int(step.depth)), .init("detail", .string(step.detail)),
                        .init("access", .string(step.access.rawValue)),
                        .init("scan", .bool(step.access == .scan)),
                        .init("index", step.index.map { .string($0) } ?? .null),
                      ])
                    })),
              ])
            })),
        .init("objects", .int(count)), .init("allObjects", .int(all)),
        .init("scannedRows", read.map { .int($0) } ?? .null),
        .init("milliseconds", .number(milliseconds(duration))),
        .init("waitingMilliseconds", .number(milliseconds(waiting))),
        .init("storeMilliseconds", .number(milliseconds(engine))),
        .init(
          "suggestedIndex",
          suggestion.map { suggestion in
            .object([
              .init("entity", .string(suggestion.entity)),
              .init("properties", .array(suggestion.properties.map { .string($0) })),
              .init("source", .string(suggestion.xml)),
            ])
          } ?? .null),
      ])
    }
  }

  static func milliseconds(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let micro = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    let rest = String(micro % 1000)
    return "\(micro / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
  }

  /// A statement without the values: texts, bytes and numbers that are no part of a name.
  static func redacted(_ sql: String) -> String {
    sql.replacing(#/[xX]?'(?:[^']|'')*'/#, with: "?").replacing(
      #/(?<before>[\s(,=<>+*\/-])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/#
    ) {
      "\($0.output.before)?"
    }
  }
}
