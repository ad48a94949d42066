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
  /// Whether values stand as `?`.
  public var isRedacted = false

  public init(entity: String) { self.entity = entity }

  /// An index of an entity that turns a scan into a search.
  struct Suggestion: Hashable {
    let entity: String
    let properties: [String]

    private var name: String {
      "by" + properties.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: "And")
    }

    /// The index in the model's source.
    var xml: String {
      let elements = properties.map {
        "<fetchIndexElement property=\"\($0)\" type=\"Binary\" order=\"ascending\"/>"
      }
      return "<fetchIndex name=\"\(name)\">\(elements.joined())</fetchIndex>"
    }

    func add(to model: NSManagedObjectModel) {
      guard let description = model.entitiesByName[entity] else { return }
      let elements = properties.compactMap { description.propertiesByName[$0] }.map {
        NSFetchIndexElementDescription(property: $0, collationType: .binary)
      }
      description.indexes.append(NSFetchIndexDescription(name: name, elements: elements))
    }
  }

  /// The answer of `cde explain`. The fetch runs once; the store stays as it is.
  public func answer(_ place: StorePlace, model: NSManagedObjectModel? = nil) throws -> Answer {
    guard case .file(let url) = place else {
      throw ToolError(
        "Fetches of a server's store are explained by the server: EXPLAIN in psql. Name a file.", .usage)
    }
    // The plan is that of the statement as it ran, with its values.
    let recorder = RecordedStatements(wantsValues: true)
    let store = try OpenedStore(place, model: model) { $0.observer = recorder }
    let description = try store.entity(named: entity)
    let request = try store.request(description, predicate: predicate, sort: sort, limit: limit)
    recorder.clear()
    var count = 0
    let duration = try ContinuousClock().measure { count = try store.read { try $0.fetch(request).count } }
    let statements = recorder.statements
    let raw = try RawFile(url)
    raw.addFunctions()
    let plans = try statements.map { try QueryPlan($0.sql, raw) }
    let scans = plans.reduce(0) { $0 + $1.scans }
    let suggestion = scans > 0 ? try suggestion(store, description, statements, scans) : nil

    var text = ""
    for (statement, plan) in zip(statements, plans) {
      text += "SQL    \(isRedacted ? Self.redacted(statement.sql) : statement.sql)\n"
      for step in plan.steps {
        text +=
          "PLAN   \(String(repeating: "  ", count: step.depth))\(step.isScan ? "scan   " : "       ")\(isRedacted ? Self.redacted(step.text) : step.text)\n"
      }
    }
    // Of an entity's table, a scan reads the rows of its sub-entities and parents as well.
    let all = try store.count(description)
    text +=
      "ROWS   \(count) of \(all) objects of \(description.name ?? "") in \(Self.milliseconds(duration)) ms\n"
    if let suggestion {
      text +=
        "INDEX  \(suggestion.xml)\n       in \(suggestion.entity) of the model turns a scan into a search.\n"
    } else if scans > 0 {
      text += "INDEX  none helps: no attribute is compared in a way that an index answers.\n"
    }
    let json = JSONValue.object([
      .init(
        "statements",
        .array(
          zip(statements, plans).map { statement, plan in
            .object([
              .init("sql", .string(isRedacted ? Self.redacted(statement.sql) : statement.sql)),
              .init("runs", .int(statement.runs)),
              .init(
                "plan",
                .array(
                  plan.steps.map { step in
                    .object([
                      .init("depth", .int(step.depth)),
                      .init("detail", .string(isRedacted ? Self.redacted(step.text) : step.text)),
                      .init("scan", .bool(step.isScan)),
                    ])
                  })),
            ])
          })),
      .init("objects", .int(count)), .init("allObjects", .int(all)),
      .init("milliseconds", .number(Self.milliseconds(duration))),
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
    return Answer([.text(text)], json: json, hasFindings: false)
  }

  private static func milliseconds(_ duration: Duration) -> String {
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

  // MARK: Suggesting

  /// Tries indexes on an empty store of the same model, and takes the first one with which SQLite scans less.
  private func suggestion(
    _ store: OpenedStore, _ entity: NSEntityDescription, _ statements: [ObservedStatement], _ scans: Int
  ) throws -> Suggestion? {
    for candidate in try candidates(entity) {
      let model = store.model.copy() as! NSManagedObjectModel
      candidate.add(to: model)
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cde-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let file = folder.appendingPathComponent("empty.sqlite")
      do {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let made = try coordinator.addPersistentStore(
          ofType: NSSQLiteStoreType,
          configurationName: store.container.persistentStoreDescriptions[0].configuration, at: file,
          options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
        try coordinator.remove(made)
      } catch { throw ToolError(error) }
      let raw = try RawFile(file)
      raw.addFunctions()
      let left = try statements.reduce(0) { $0 + (try QueryPlan($1.sql, raw)).scans }
      if left < scans { return candidate }
    }
    return nil
  }

  private func candidates(_ entity: NSEntityDescription) throws(ToolError) -> [Suggestion] {
    var equal: [[String]] = []
    var ranged: [[String]] = []
    if let predicate {
      do { Self.collect(try PredicateTree(format: predicate), &equal, &ranged) } catch {
        throw ToolError("The predicate can't be read: \(error.message)", .usage)
      }
    }
    func isAttribute(_ path: [String]) -> Bool { path.count == 1 && entity.attributesByName[path[0]] != nil }
    var lists: [[String]] = []
    let own = equal.filter(isAttribute).map { $0[0] }
    let ranges = ranged.filter(isAttribute).map { $0[0] }
    if !own.isEmpty || !ranges.isEmpty { lists.append(own + ranges.prefix(1)) }
    lists += own.map { [$0] } + ranges.map { [$0] }
    if let first = sort.first.map({ $0.hasPrefix("-") ? String($0.dropFirst()) : $0 }), isAttribute([first]) {
      lists.append([first])
    }
    var result = lists.map { list in
      Suggestion(
        entity: entity.name ?? "", properties: list.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
      )
    }
    // An attribute of a related object: the other entity's index, from which SQLite may come.
    for path in equal + ranged where path.count == 2 {
      if let other = entity.relationshipsByName[path[0]]?.destinationEntity,
        other.attributesByName[path[1]] != nil
      {
        result.append(Suggestion(entity: other.name ?? "", properties: [path[1]]))
      }
    }
    return result
  }

  /// The key paths that all objects of the result must have a value or a range of.
  private static func collect(_ tree: PredicateTree, _ equal: inout [[String]], _ ranged: inout [[String]]) {
    switch tree {
    case .and(let parts): for part in parts { collect(part, &equal, &ranged) }
    case .or(let parts): for part in parts { collect(part, &equal, &ranged) }
    case .comparison(let comparison) where comparison.options.isEmpty:
      for case .keyPath(let path) in [comparison.left, comparison.right] {
        switch comparison.op {
        case .equal, .in: equal.append(path)
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .beginsWith: ranged.append(path)
        default: break
        }
      }
    default: break
    }
  }
}
