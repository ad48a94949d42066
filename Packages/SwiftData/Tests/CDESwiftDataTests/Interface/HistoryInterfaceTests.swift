import CDEManagedModel
import CDESwiftData
import Foundation
import Testing

@Suite("The interface of the history")
struct HistoryInterfaceTests {
  @Test("A context fetches and deletes transactions by a descriptor")
  func context() throws {
    let _:
      (ModelContext) -> (HistoryDescriptor<DefaultHistoryTransaction>) throws -> [DefaultHistoryTransaction] =
        ModelContext.fetchHistory(_:)
    let _: (ModelContext) -> (HistoryDescriptor<DefaultHistoryTransaction>) throws -> Void =
      ModelContext.deleteHistory(_:)
  }

  @Test("A descriptor has a predicate, a limit and an order")
  func descriptor() {
    isSendable(HistoryDescriptor<DefaultHistoryTransaction>.self)
    let _:
      WritableKeyPath<HistoryDescriptor<DefaultHistoryTransaction>, Predicate<DefaultHistoryTransaction>?> =
        \HistoryDescriptor<DefaultHistoryTransaction>.predicate
    let _: WritableKeyPath<HistoryDescriptor<DefaultHistoryTransaction>, UInt64> =
      \HistoryDescriptor<DefaultHistoryTransaction>.fetchLimit
    let _:
      WritableKeyPath<
        HistoryDescriptor<DefaultHistoryTransaction>, [SortDescriptor<DefaultHistoryTransaction>]
      > = \HistoryDescriptor<DefaultHistoryTransaction>.sortBy
    let descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
    #expect(descriptor.predicate == nil && descriptor.fetchLimit == 0 && descriptor.sortBy.isEmpty)
    _ = HistoryDescriptor<DefaultHistoryTransaction>(predicate: nil)
    let _:
      (Predicate<DefaultHistoryTransaction>?, UInt64, [SortDescriptor<DefaultHistoryTransaction>]) ->
        HistoryDescriptor<DefaultHistoryTransaction> = HistoryDescriptor.init(predicate:fetchLimit:sortBy:)
    _ = HistoryDescriptor<DefaultHistoryTransaction>(predicate: nil, sortBy: [])
  }

  @Test("A transaction has an origin, a time, a place and changes")
  func transaction() {
    isSendable(DefaultHistoryTransaction.self)
    let _: any HistoryTransaction.Type = DefaultHistoryTransaction.self
    let _: DefaultHistoryToken.Type = DefaultHistoryTransaction.TokenType.self
    let _: Int64.Type = DefaultHistoryTransaction.TransactionIdentifier.self
    let _: KeyPath<DefaultHistoryTransaction, String?> = \DefaultHistoryTransaction.author
    let _: KeyPath<DefaultHistoryTransaction, String> = \DefaultHistoryTransaction.bundleIdentifier
    let _: KeyPath<DefaultHistoryTransaction, [HistoryChange]> = \DefaultHistoryTransaction.changes
    let _: KeyPath<DefaultHistoryTransaction, String> = \DefaultHistoryTransaction.processIdentifier
    let _: KeyPath<DefaultHistoryTransaction, String> = \DefaultHistoryTransaction.storeIdentifier
    let _: KeyPath<DefaultHistoryTransaction, Date> = \DefaultHistoryTransaction.timestamp
    let _: KeyPath<DefaultHistoryTransaction, DefaultHistoryToken> = \DefaultHistoryTransaction.token
    let _: KeyPath<DefaultHistoryTransaction, Int64> = \DefaultHistoryTransaction.transactionIdentifier
    transactionHas(DefaultHistoryTransaction.self)
  }

  private func transactionHas<T: HistoryTransaction>(_ type: T.Type) {
    let _: T.TokenType.Type = T.TokenType.self
    let _: T.TransactionIdentifier.Type = T.TransactionIdentifier.self
    let _: KeyPath<T, String?> = \T.author
    let _: KeyPath<T, String> = \T.bundleIdentifier
    let _: KeyPath<T, [HistoryChange]> = \T.changes
    let _: KeyPath<T, String> = \T.processIdentifier
    let _: KeyPath<T, String> = \T.storeIdentifier
    let _: KeyPath<T, Date> = \T.timestamp
    let _: KeyPath<T, T.TokenType> = \T.token
    let _: KeyPath<T, T.TransactionIdentifier> = \T.transactionIdentifier
  }

  @Test("A token is a value with an order and a form for files")
  func token() {
    isSendable(DefaultHistoryToken.self)
    isHashable(DefaultHistoryToken.self)
    isComparable(DefaultHistoryToken.self)
    let _: any HistoryToken.Type = DefaultHistoryToken.self
    let _: any Codable.Type = DefaultHistoryToken.self
    let _: KeyPath<DefaultHistoryToken, [String: Int64]?> = \DefaultHistoryToken.tokenValue
  }

  private func isComparable<T: Comparable>(_ type: T.Type) {}

  @Test("A change is an insertion, an update or a deletion")
  func change() {
    isSendable(HistoryChange.self)
    let _: (any HistoryInsert) -> HistoryChange = HistoryChange.insert
    let _: (any HistoryUpdate) -> HistoryChange = HistoryChange.update
    let _: (any HistoryDelete) -> HistoryChange = HistoryChange.delete
    let _: KeyPath<HistoryChange, PersistentIdentifier> = \HistoryChange.changedPersistentIdentifier
    let _: any HistoryInsert<Journey>.Type = DefaultHistoryInsert<Journey>.self
    let _: any HistoryUpdate<Journey>.Type = DefaultHistoryUpdate<Journey>.self
    let _: any HistoryDelete<Journey>.Type = DefaultHistoryDelete<Journey>.self
    let _: KeyPath<DefaultHistoryInsert<Journey>, PersistentIdentifier> =
      \DefaultHistoryInsert<Journey>.changedPersistentIdentifier
    let _: KeyPath<DefaultHistoryInsert<Journey>, Int64> = \DefaultHistoryInsert<Journey>.changeIdentifier
    let _: KeyPath<DefaultHistoryInsert<Journey>, Int64> =
      \DefaultHistoryInsert<Journey>.transactionIdentifier
    let _: KeyPath<DefaultHistoryUpdate<Journey>, PersistentIdentifier> =
      \DefaultHistoryUpdate<Journey>.changedPersistentIdentifier
    let _: KeyPath<DefaultHistoryUpdate<Journey>, Int64> = \DefaultHistoryUpdate<Journey>.changeIdentifier
    let _: KeyPath<DefaultHistoryUpdate<Journey>, Int64> =
      \DefaultHistoryUpdate<Journey>.transactionIdentifier
    let _: KeyPath<DefaultHistoryUpdate<Journey>, [any PartialKeyPath<Journey> & Sendable]> =
      \DefaultHistoryUpdate<Journey>.updatedAttributes
    let _: KeyPath<DefaultHistoryDelete<Journey>, PersistentIdentifier> =
      \DefaultHistoryDelete<Journey>.changedPersistentIdentifier
    let _: KeyPath<DefaultHistoryDelete<Journey>, Int64> = \DefaultHistoryDelete<Journey>.changeIdentifier
    let _: KeyPath<DefaultHistoryDelete<Journey>, Int64> =
      \DefaultHistoryDelete<Journey>.transactionIdentifier
    let _: KeyPath<DefaultHistoryDelete<Journey>, HistoryTombstone<Journey>> =
      \DefaultHistoryDelete<Journey>.tombstone
    changesHave(
      DefaultHistoryInsert<Journey>.self, DefaultHistoryUpdate<Journey>.self,
      DefaultHistoryDelete<Journey>.self)
  }

  private func changesHave<I: HistoryInsert, U: HistoryUpdate, D: HistoryDelete>(
    _ insert: I.Type, _ update: U.Type, _ delete: D.Type
  ) {
    let _: KeyPath<I, PersistentIdentifier> = \I.changedPersistentIdentifier
    let _: KeyPath<I, I.ChangeIdentifier> = \I.changeIdentifier
    let _: KeyPath<I, I.TransactionIdentifier> = \I.transactionIdentifier
    let _: KeyPath<U, PersistentIdentifier> = \U.changedPersistentIdentifier
    let _: KeyPath<U, U.ChangeIdentifier> = \U.changeIdentifier
    let _: KeyPath<U, U.TransactionIdentifier> = \U.transactionIdentifier
    let _: KeyPath<U, [any PartialKeyPath<U.Model> & Sendable]> = \U.updatedAttributes
    let _: KeyPath<D, PersistentIdentifier> = \D.changedPersistentIdentifier
    let _: KeyPath<D, D.ChangeIdentifier> = \D.changeIdentifier
    let _: KeyPath<D, D.TransactionIdentifier> = \D.transactionIdentifier
    let _: KeyPath<D, HistoryTombstone<D.Model>> = \D.tombstone
  }

  @Test("A tombstone has values by key path")
  func tombstone() {
    isSendable(HistoryTombstone<Journey>.self)
    func name(_ tombstone: HistoryTombstone<Journey>) -> String? { tombstone[\.name] }
    func date(_ delete: DefaultHistoryDelete<Journey>) -> Date? { delete[\.start] }
    _ = (name, date)
  }

  private struct JournalConfiguration: DataStoreConfiguration {
    typealias Store = Journal
    var name = "journal"
    var schema: Schema?
    let records: Journal.Records
    static func == (first: Self, second: Self) -> Bool { first.name == second.name }
    func hash(into hasher: inout Hasher) { hasher.combine(name) }
  }

  /// A store of an application's own with a history of its own.
  private final class Journal: HistoryProviding {
    typealias Configuration = JournalConfiguration
    typealias Snapshot = DefaultSnapshot

    /// Used by one test alone, and by its store.
    final class Records: @unchecked Sendable {
      // Guard: the calls of a store follow each other, and the test looks in between.
      var transactions: [ServerTransaction] = []
    }

    let configuration: JournalConfiguration
    let identifier = "journal"
    let schema: Schema
    private var records: Records { configuration.records }

    init(_ configuration: JournalConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
      self.configuration = configuration
      schema = try #require(configuration.schema)
    }

    func fetch<T>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
      DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: [], relatedSnapshots: [:])
    }

    func save(
      _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
      DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: [:])
    }

    private var transactions: [ServerTransaction] {
      get { records.transactions }
      set { records.transactions = newValue }
    }

    func fetchHistory(_ descriptor: HistoryDescriptor<ServerTransaction>) throws -> [ServerTransaction] {
      let limit = descriptor.fetchLimit == 0 ? Int.max : Int(clamping: descriptor.fetchLimit)
      let found = try transactions.filter { try descriptor.predicate?.evaluate($0) ?? true }
      return Array(found.sorted(using: descriptor.sortBy).prefix(limit))
    }

    func deleteHistory(_ descriptor: HistoryDescriptor<ServerTransaction>) throws {
      transactions = try transactions.filter { try descriptor.predicate?.evaluate($0) == false }
    }
  }

  @Test("A store of the application's own provides a history, with transactions and tokens of its own")
  func providing() throws {
    let _: any HistoryProviding.Type = Journal.self
    func all<P: HistoryProviding>(of provider: P) throws -> [P.HistoryType] {
      try provider.fetchHistory(HistoryDescriptor<P.HistoryType>())
    }
    let records = Journal.Records()
    let container = try ModelContainer(
      for: Schema([Journey.self]), configurations: [JournalConfiguration(records: records)])
    let context = ModelContext(container)
    #expect(try context.fetchHistory(HistoryDescriptor<ServerTransaction>()).isEmpty)
    for number in 1...3 {
      records.transactions.append(
        ServerTransaction(author: "server", token: ServerTransaction.Token(tokenValue: number)))
    }
    let last = ServerTransaction.Token(tokenValue: 1)
    let later = HistoryDescriptor<ServerTransaction>(predicate: #Predicate { $0.token > last })
    #expect(try context.fetchHistory(later).count == 2)
    try context.deleteHistory(later)
    #expect(try context.fetchHistory(HistoryDescriptor<ServerTransaction>()).count == 1)
    #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).isEmpty)
    let configuration = JournalConfiguration(schema: Schema([Journey.self]), records: records)
    #expect(try all(of: Journal(configuration, migrationPlan: nil)).count == 1)
  }

  @Test("Transactions of a type that no store has are an error that names the type")
  func unknown() throws {
    let container = try ModelContainer(
      for: Journey.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let error = #expect(throws: SwiftDataError.self) {
      try context.fetchHistory(HistoryDescriptor<ServerTransaction>())
    }
    #expect(error == .invalidTransactionFetchRequest)
    #expect("\(try #require(error))".contains("ServerTransaction"))
  }

  @Test("Core Data's model of classes is made, also merged with another one")
  func coreData() {
    let _: ([any PersistentModel.Type], NSManagedObjectModel?) -> NSManagedObjectModel? =
      NSManagedObjectModel.makeManagedObjectModel(for:mergedWith:)
    let model: NSManagedObjectModel? = NSManagedObjectModel.makeManagedObjectModel(for: [Journey.self])
    #expect(model?.entitiesByName["Journey"] != nil)
  }
}
