import CDEManagedModel
import CDEModelRuntime
import Foundation

/// The history of a store: who changed what, and when.
public struct StoreHistory {
  private let place: StorePlace
  private let model: NSManagedObjectModel?
  private let schema: String?

  public init(_ place: StorePlace, model: NSManagedObjectModel? = nil, schema: String? = nil) {
    self.place = place
    self.model = model
    self.schema = schema
  }

  /// The answer of `cde history list`: the last transactions, the newest at the end.
  public func list(limit: Int = 50, author: String? = nil) throws -> Answer {
    var table = Table([
      .init("transaction", isNumber: true), .init("date"), .init("author"), .init("context"),
      .init("process"),
      .init("inserted", isNumber: true), .init("updated", isNumber: true), .init("deleted", isNumber: true),
    ])
    let all = try transactions().filter { author == nil || $0.author == author }
    for transaction in all.suffix(limit) {
      let changes = transaction.changes ?? []
      func count(_ type: NSPersistentHistoryChangeType) -> Cell {
        Cell(changes.count { $0.changeType == type })
      }
      table.rows.append([
        Cell(Int(transaction.transactionNumber)), Cell(DateText.text(transaction.timestamp)),
        Cell(transaction.author ?? ""),
        Cell(transaction.contextName ?? ""), Cell(transaction.processID), count(.insert), count(.update),
        count(.delete),
      ])
    }
    var answer = Answer([.table(table)], json: Answer([.table(table)]).jsonValue)
    if all.count > limit { answer.note = "\(all.count - limit) earlier transactions: --limit for more." }
    return answer
  }

  /// The answer of `cde history show`: the changes of a transaction.
  public func show(_ number: Int) throws -> Answer {
    let all = try transactions()
    guard let transaction = all.first(where: { $0.transactionNumber == Int64(number) }) else {
      let range =
        all.first.map { "They are \($0.transactionNumber) to \(all.last!.transactionNumber)" }
        ?? "It has none"
      throw ToolError("The history has no transaction \(number). \(range).", .usage)
    }
    var table = Table([.init("change"), .init("object"), .init("properties"), .init("kept values")])
    for change in transaction.changes ?? [] {
      let kind =
        switch change.changeType {
        case .insert: "inserted"
        case .update: "updated"
        case .delete: "deleted"
        }
      let names = (change.updatedProperties ?? []).map(\.name).sorted()
      let kept = (change.tombstone ?? [:]).map { ("\($0.key)", ValueText.cell($0.value)) }.sorted {
        $0.0 < $1.0
      }
      table.rows.append([
        Cell(kind), Cell(ShortID.text(change.changedObjectID)),
        Cell(names.joined(separator: ", "), .array(names.map { .string($0) })),
        Cell(
          kept.map { "\($0): \($1.text)" }.joined(separator: ", "), .object(kept.map { .init($0, $1.json) })),
      ])
    }
    return Answer([.table(table)])
  }

  /// The answer of `cde history purge`: removes the transactions before a date. The only call that writes.
  public func purge(before text: String) throws -> Answer {
    guard let date = DateText.date(text) else {
      throw ToolError("\(text) is no date. Write one such as 2026-01-31 or 2026-01-31T08:00:00Z.", .usage)
    }
    let before = try transactions().count
    let store = try OpenedStore(place, model: model, isReadOnly: false, schema: schema)
    try store.read { _ = try $0.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: date)) }
    let after = try transactions().count
    return Answer(
      [.text("\(before - after) transactions were removed, \(after) are left.")],
      json: .object([.init("removed", .int(before - after)), .init("left", .int(after))]))
  }

  private func transactions() throws -> [NSPersistentHistoryTransaction] {
    try OpenedStore(place, model: model, schema: schema).transactions()
  }
}

extension OpenedStore {
  /// The transactions of the history after a number, the newest at the end.
  func transactions(
    after number: Int64 = 0, resultType: NSPersistentHistoryResultType = .transactionsAndChanges
  ) throws -> [NSPersistentHistoryTransaction] {
    var request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
    if number > 0, let fetch = NSPersistentHistoryTransaction.fetchRequest {
      fetch.predicate = NSPredicate(format: "transactionNumber > %lld", number)
      request = .fetchHistory(withFetch: fetch)
    }
    request.resultType = resultType
    return try read { context in
      let result = try context.execute(request) as? NSPersistentHistoryResult
      return result?.result as? [NSPersistentHistoryTransaction] ?? []
    }
  }
}
