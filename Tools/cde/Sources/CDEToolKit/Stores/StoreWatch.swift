import CDEManagedModel
import CDEModelRuntime
import Foundation

/// The commits to a store as they happen, of any process.
public struct StoreWatch: Sendable {
  private let place: StorePlace
  private let schema: String?
  private let model: @Sendable () throws -> NSManagedObjectModel?
  /// Only commits of this author.
  public var author: String?
  /// Only commits that change this entity or one that inherits from it.
  public var entity: String?
  /// Begins with the whole history instead of the next commit.
  public var includesPast = false
  /// Ends after so many commits; nil for never.
  public var limit: Int?

  public init(
    _ place: StorePlace, schema: String? = nil,
    model: @escaping @Sendable () throws -> NSManagedObjectModel? = { nil }
  ) {
    self.place = place
    self.schema = schema
    self.model = model
  }

  /// Follows the store until the limit is reached or the task is cancelled. The store is opened for reading only.
  ///
  /// - Parameters:
  ///   - began: called once, when each later commit will be told.
  ///   - body: called with each commit, in the order of the commits.
  /// - Throws: ``ToolError``, for example for a store without a history.
  public func run(began: () -> Void = {}, _ body: (WatchedCommit) -> Void) async throws {
    // Taken before the store is opened, so that a commit in between makes a difference.
    var stamp = place.stamp
    var opened: OpenedStore?
    var entities: Set<String>?
    var last = Int64(0)
    do {
      let store = try open()
      opened = store
      entities = try entity.map { name in
        let entity = try store.entity(named: name)
        return Set(store.model.entities.filter { $0.isKindOf(entity: entity) }.compactMap(\.name))
      }
      try requireHistory()
      if !includesPast {
        last = try store.transactions(resultType: .transactionsOnly).last?.transactionNumber ?? 0
      }
    }
    began()
    var count = 0
    while !Task.isCancelled {
      if let store = opened {
        for transaction in try store.transactions(after: last) {
          last = transaction.transactionNumber
          let commit = WatchedCommit(transaction)
          if let author, commit.author != author { continue }
          if let entities, commit.changes.allSatisfy({ !entities.contains($0.entity) }) { continue }
          body(commit)
          count += 1
          if count == limit { return }
        }
        // A file is opened anew for each commit, because another file may have taken its place.
        if case .file = place { opened = nil }
      }
      try? await Task.sleep(for: Self.pause)
      let now = place.stamp
      if now != stamp {
        stamp = now
        opened = try open()
      }
    }
  }

  private func open() throws -> OpenedStore {
    try OpenedStore(place, model: model(), schema: schema, readsOneState: false)
  }

  /// Between two looks at the file, which cost two calls of the system.
  private static let pause = Duration.milliseconds(200)

  private func requireHistory() throws {
    guard case .file(let url) = place else { return }
    let tables = try RawFile(url).texts("SELECT name FROM sqlite_master WHERE name = 'ATRANSACTION'")
    if !tables.isEmpty { return }
    throw ToolError(
      "\(place.text) keeps no history, so its commits can't be told apart. Set NSPersistentHistoryTrackingKey in the app."
    )
  }
}

/// A commit to a store, with its changes by entity.
public struct WatchedCommit: Sendable {
  /// The changes of one entity's objects.
  public struct Change: Sendable {
    public var entity: String
    public var inserted = 0
    public var updated = 0
    public var deleted = 0
    /// The properties that updates changed, sorted.
    public var properties: [String] = []
  }

  public let number: Int64
  public let date: Date
  public let author: String?
  public let context: String?
  public let process: String
  /// Sorted by entity.
  public let changes: [Change]

  init(_ transaction: NSPersistentHistoryTransaction) {
    number = transaction.transactionNumber
    date = transaction.timestamp
    author = transaction.author
    context = transaction.contextName
    process = transaction.processID
    var changes: [String: Change] = [:]
    for change in transaction.changes ?? [] {
      let name = change.changedObjectID.entity.name ?? ""
      var entry = changes[name] ?? Change(entity: name)
      switch change.changeType {
      case .insert: entry.inserted += 1
      case .delete: entry.deleted += 1
      case .update:
        entry.updated += 1
        entry.properties += (change.updatedProperties ?? []).map(\.name)
      }
      changes[name] = entry
    }
    self.changes = changes.values.sorted { $0.entity < $1.entity }.map { change in
      var change = change
      change.properties = Set(change.properties).sorted()
      return change
    }
  }

  /// The author, or the context or the process of a commit without one.
  var source: String {
    [author, context, process].compactMap { $0 }.filter { !$0.isEmpty }.first ?? "unknown"
  }

  /// The commit on one line.
  public var text: String {
    let parts = changes.map { change in
      let counts = [(change.inserted, "inserted"), (change.updated, "updated"), (change.deleted, "deleted")]
        .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
      let names = change.properties.isEmpty ? "" : " (\(change.properties.joined(separator: ", ")))"
      return "\(change.entity): \(counts)\(names)"
    }
    let changes = parts.isEmpty ? "no change" : parts.joined(separator: "; ")
    return "\(number)  \(DateText.text(date))  \(source)  \(changes)"
  }

  /// The commit as a JSON object.
  public var json: JSONValue {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    return .object([
      .init("transaction", .int(Int(number))), .init("date", .string(DateText.text(date))),
      .init("author", text(author)), .init("context", text(context)), .init("process", .string(process)),
      .init(
        "changes",
        .array(
          changes.map { change in
            .object([
              .init("entity", .string(change.entity)), .init("inserted", .int(change.inserted)),
              .init("updated", .int(change.updated)), .init("deleted", .int(change.deleted)),
              .init("properties", .array(change.properties.map { .string($0) })),
            ])
          })),
    ])
  }
}
