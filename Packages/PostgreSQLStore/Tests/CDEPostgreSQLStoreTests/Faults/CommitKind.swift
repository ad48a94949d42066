#if PostgreSQL
  @testable import CDEPostgreSQLStore
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Testing

  /// One kind of commit whose connection is disturbed.
  enum CommitKind: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case insertion, update, deletion, links, mixture
    /// New rows that are written by COPY.
    case copying
    /// The update of one row by a store without a history, which is one statement and no transaction around it.
    case updateAtOnce

    var tracksHistory: Bool { self != .updateAtOnce }

    var testDescription: String { rawValue }

    /// A transaction, and what the server has of it before and afterwards, written down by hand.
    struct Prepared: Sendable {
      let mark: String
      var transaction: StoreTransaction
      let before: [String]
      let rows: [String]
      let changes: String

      func after(_ hasHistory: Bool) -> [String] {
        (hasHistory ? rows + ["transaction: \(changes)"] : rows).sorted {
          $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
      }
    }

    /// Prepares rows beside the proxy, and makes the transaction.
    func prepare(_ world: FaultWorld, _ mark: String) throws -> Prepared {
      var prepared =
        switch self {
        case .insertion, .copying: try Self.insertion(world.direct, mark)
        case .update, .updateAtOnce: try Self.update(world.direct, mark)
        case .deletion: try Self.deletion(world.direct, mark)
        case .links: try Self.links(world.direct, mark)
        case .mixture: try Self.mixture(world.direct, mark)
        }
      prepared.transaction.author = mark
      return prepared
    }

    private static func items(_ mark: String, _ names: String..., first: Int64 = 1) -> [Draft] {
      names.enumerated().map {
        Draft(
          key: -Int64($0) - 1,
          values: ["title": .text("\(mark).\($1)"), "big": .integer(first + Int64($0))])
      }
    }

    private static func insertion(_ store: PostgreSQLStore, _ mark: String) throws -> Prepared {
      var drafts = items(mark, "a", "b")
      for index in drafts.indices { drafts[index].references["category"] = -1 }
      var transaction = StoreTransaction()
      transaction.inserted = [
        store.batch("Category", [Draft(key: -1, values: ["name": .text("\(mark).c"), "code": .integer(7)])]),
        store.batch("Item", drafts),
      ]
      return Prepared(
        mark: mark, transaction: transaction, before: [],
        rows: [
          "category \(mark).c v1 code 7", "item \(mark).a v1 big 1 in \(mark).c",
          "item \(mark).b v1 big 2 in \(mark).c",
        ], changes: "0 Category, 0 Item, 0 Item")
    }

    private static func update(_ store: PostgreSQLStore, _ mark: String) throws -> Prepared {
      let item = try store.insert("Item", items(mark, "a"))[0]
      var changed = items(mark, "a")[0]
      (changed.key, changed.version, changed.values["big"]) = (item, 2, .integer(50))
      var transaction = StoreTransaction()
      transaction.updated = [store.update("Item", [changed], "big")]
      return Prepared(
        mark: mark, transaction: transaction, before: ["item \(mark).a v1 big 1 in "],
        rows: ["item \(mark).a v2 big 50 in "], changes: "1 Item")
    }

    private static func link(
      _ store: PostgreSQLStore, _ kind: LinkChange.Kind, _ item: Int64, _ tag: Int64
    ) -> LinkChange {
      LinkChange(
        kind: kind, entity: store.index("Item"), slot: store.slot("Item", "tags"), owner: item, member: tag)
    }

    private static func deletion(_ store: PostgreSQLStore, _ mark: String) throws -> Prepared {
      let items = try store.insert("Item", items(mark, "a", "b"))
      let tag = try store.insert("Tag", [Draft(key: -1, values: ["name": .text("\(mark).t")])])[0]
      try store.commit { $0.links = items.map { link(store, .add, $0, tag) } }
      var transaction = StoreTransaction()
      transaction.deleted = [store.deletion("Item", items[0])]
      return Prepared(
        mark: mark, transaction: transaction,
        before: [
          "item \(mark).a v1 big 1 in ", "item \(mark).b v1 big 2 in ", "link \(mark).a \(mark).t",
          "link \(mark).b \(mark).t", "tag \(mark).t v1",
        ],
        rows: ["item \(mark).b v1 big 2 in ", "link \(mark).b \(mark).t", "tag \(mark).t v1"],
        changes: "2 Item")
    }

    private static func links(_ store: PostgreSQLStore, _ mark: String) throws -> Prepared {
      let items = try store.insert("Item", items(mark, "a", "b"))
      let tag = try store.insert("Tag", [Draft(key: -1, values: ["name": .text("\(mark).t")])])[0]
      let category = try store.insert("Category", [Draft(key: -1, values: ["name": .text("\(mark).c")])])[0]
      try store.commit { $0.links = [link(store, .add, items[0], tag)] }
      var transaction = StoreTransaction()
      transaction.links = [
        link(store, .remove, items[0], tag), link(store, .add, items[1], tag),
        LinkChange(
          kind: .add, entity: store.index("Category"), slot: store.slot("Category", "featured"),
          owner: category, member: items[0], isAppended: true),
      ]
      return Prepared(
        mark: mark, transaction: transaction,
        before: [
          "category \(mark).c v1 code ", "item \(mark).a v1 big 1 in ", "item \(mark).b v1 big 2 in ",
          "link \(mark).a \(mark).t", "tag \(mark).t v1",
        ],
        rows: [
          "category \(mark).c v1 code ", "item \(mark).a v1 big 1 in  featured by \(mark).c",
          "item \(mark).b v1 big 2 in ", "link \(mark).b \(mark).t", "tag \(mark).t v1",
        ], changes: "1 Category, 1 Item, 1 Item, 1 Tag")
    }

    /// New, changed and deleted rows, and links, in one transaction.
    private static func mixture(_ store: PostgreSQLStore, _ mark: String) throws -> Prepared {
      let old = try store.insert("Item", items(mark, "a", "b"))
      let tag = try store.insert("Tag", [Draft(key: -1, values: ["name": .text("\(mark).t")])])[0]
      try store.commit { $0.links = old.map { link(store, .add, $0, tag) } }
      var changed = items(mark, "b")[0]
      (changed.key, changed.version, changed.values["big"]) = (old[1], 2, .integer(50))
      changed.references["category"] = -1
      var transaction = StoreTransaction()
      transaction.inserted = [
        store.batch("Category", [Draft(key: -1, values: ["name": .text("\(mark).c"), "code": .integer(7)])]),
        store.batch("Item", items(mark, "n", first: 9)),
      ]
      transaction.updated = [store.update("Item", [changed], "big", "category")]
      transaction.deleted = [store.deletion("Item", old[0])]
      transaction.links = [link(store, .add, -1, tag), link(store, .remove, old[1], tag)]
      return Prepared(
        mark: mark, transaction: transaction,
        before: [
          "item \(mark).a v1 big 1 in ", "item \(mark).b v1 big 2 in ", "link \(mark).a \(mark).t",
          "link \(mark).b \(mark).t", "tag \(mark).t v1",
        ],
        rows: [
          "category \(mark).c v1 code 7", "item \(mark).b v2 big 50 in \(mark).c",
          "item \(mark).n v1 big 9 in ",
          "link \(mark).n \(mark).t", "tag \(mark).t v1",
        ], changes: "0 Category, 0 Item, 1 Item, 2 Item, 1 Tag")
    }
  }
#endif
