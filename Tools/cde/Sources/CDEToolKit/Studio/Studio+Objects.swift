import CDEManagedModel
@_spi(CDE) import CDEModelRuntime
import Foundation

extension Studio {
  /// An object with its values, and the first objects of each relationship.
  public func object(_ text: String, members limit: Int = 20) throws -> JSONValue {
    let state = try state()
    let id = try Self.id(text, state.store)
    return try log.timing("object \(ShortID.text(id))", nil) {
      try state.store.readAnew { context in
        let object = try Self.object(id, context)
        let attributes = object.entity.shownAttributes(state.store.names).map { attribute in
          (attribute.name, StudioValue(object.value(forKey: attribute.name), attribute))
        }
        // Known once the values were read.
        let unread = Set(object.unreadProperties)
        return .object([
          .init("state", .int(state.number)), .init("id", .string(ShortID.text(id))),
          .init("uri", .string(id.uriRepresentation().absoluteString)),
          .init("entity", .string(object.entity.name ?? "")),
          .init("name", .string(state.store.names.name(of: object))),
          .init("attributes", .array(attributes.map { $1.json($0, isUnread: unread.contains($0)) })),
          .init(
            "relationships",
            .array(
              try object.entity.shownRelationships.map { relationship in
                try Self.members(relationship, of: object, at: 0, limit, state.store, context)
              })),
        ])
      }
    }
  }

  /// More objects of a relationship, in its order if it has one, otherwise in that of their keys.
  public func members(of text: String, _ name: String, at start: Int, limit: Int = 100) throws -> JSONValue {
    let state = try state()
    let id = try Self.id(text, state.store)
    guard let relationship = id.entity.relationshipsByName[name] else {
      throw StudioFailure(.missing, "\(id.entity.name ?? "") has no relationship \(name).")
    }
    return try state.store.readAnew { context in
      try Self.members(
        relationship, of: try Self.object(id, context), at: max(0, start), limit, state.store, context)
    }
  }

  /// The bytes of an attribute, for a picture and for a file.
  public func bytes(of text: String, _ name: String) throws -> Data {
    let state = try state()
    let id = try Self.id(text, state.store)
    guard id.entity.attributesByName[name]?.attributeType == .binaryDataAttributeType else {
      throw StudioFailure(.missing, "\(id.entity.name ?? "") has no attribute \(name) with bytes.")
    }
    return try state.store.readAnew { context in
      guard let data = try Self.object(id, context).value(forKey: name) as? Data else {
        throw StudioFailure(.missing, "\(name) has no value.")
      }
      return data
    }
  }

  /// The changes of an object that the history tells, the newest first.
  public func history(of text: String, limit: Int = 100) throws -> JSONValue {
    let state = try state()
    let id = try Self.id(text, state.store)
    guard let fetch = NSPersistentHistoryChange.fetchRequest else { return .array([]) }
    fetch.predicate = NSPredicate(format: "changedObjectID == %@", id)
    let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
    request.resultType = .transactionsAndChanges
    return try state.store.readAnew { context in
      let result = try context.execute(request) as? NSPersistentHistoryResult
      let found = result?.result as? [NSPersistentHistoryTransaction] ?? []
      return .array(
        found.suffix(limit).reversed().map { transaction in
          let commit = WatchedCommit(transaction)
          return .object([
            .init("transaction", .int(Int(commit.number))),
            .init("date", .string(DateText.text(commit.date))),
            .init("source", .string(commit.source)),
            .init("changes", .array((transaction.changes ?? []).map(Self.change))),
          ])
        })
    }
  }

  private static func change(_ change: NSPersistentHistoryChange) -> JSONValue {
    let kind =
      switch change.changeType {
      case .insert: "inserted"
      case .update: "updated"
      case .delete: "deleted"
      }
    return .object([
      .init("kind", .string(kind)),
      .init("properties", .array((change.updatedProperties ?? []).map(\.name).sorted().map { .string($0) })),
    ])
  }

  // MARK: Parts

  static func id(_ text: String, _ store: OpenedStore) throws -> NSManagedObjectID {
    do { return try store.objectID(text) } catch { throw StudioFailure(.missing, error.message) }
  }

  static func object(_ id: NSManagedObjectID, _ context: NSManagedObjectContext) throws -> NSManagedObject {
    do { return try context.existingObject(with: id) } catch {
      guard (error as? ManagedObjectError)?.code == .objectNotFound else { throw error }
      throw StudioFailure(.missing, "The store has no object \(ShortID.text(id)). It may have been deleted.")
    }
  }

  private static func members(
    _ relationship: NSRelationshipDescription, of object: NSManagedObject, at start: Int, _ limit: Int,
    _ store: OpenedStore, _ context: NSManagedObjectContext
  ) throws -> JSONValue {
    var ids = object.objectIDs(forRelationshipNamed: relationship.name)
    if relationship.isToMany, !relationship.isOrdered {
      ids.sort { ($0.rowKey, ShortID.text($0)) < ($1.rowKey, ShortID.text($1)) }
    }
    let shown = ids.dropFirst(start).prefix(limit)
    // A fetch is of one entity, which may have a parent among the others.
    let groups = Dictionary(grouping: shown) { $0.entity.name ?? "" }
    var found: [NSManagedObjectID: NSManagedObject] = [:]
    for group in groups.values {
      found.merge(try store.found(group, in: context)) { first, _ in first }
    }
    return .object([
      .init("name", .string(relationship.name)), .init("count", .int(ids.count)),
      .init(
        "objects",
        .array(
          shown.map { id in
            found[id].map { RowListing.reference(to: $0, store).json }
              ?? .object([
                .init("id", .string(ShortID.text(id))), .init("name", .string(ReadableNames.missing(id))),
              ])
          })),
    ])
  }
}
