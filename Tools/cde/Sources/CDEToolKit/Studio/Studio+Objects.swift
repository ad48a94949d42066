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
        return .object([
          .init("state", .int(state.number)), .init("id", .string(ShortID.text(id))),
          .init("uri", .string(id.uriRepresentation().absoluteString)),
          .init("entity", .string(object.entity.name ?? "")),
          .init("name", .string(state.store.names.name(of: object))),
          .init(
            "attributes",
            .array(
              object.entity.shownAttributes(state.store.names).map { attribute in
                StudioValue(object.value(forKey: attribute.name), attribute).json(attribute.name)
              })),
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

/// A value of an attribute as a page shows and edits it.
struct StudioValue {
  private let attribute: NSAttributeDescription
  private let cell: Cell
  /// Whether the page may send the text back. Values of unknown classes and bytes have a summary only.
  let isText: Bool
  private let elements: [(name: String, value: StudioValue)]
  private let size: Int?

  /// Longer texts would make the page slow. They stay as they are.
  static let longest = 200_000

  init(_ value: Any?, _ attribute: NSAttributeDescription) {
    self.attribute = attribute
    cell = ValueText.cell(value, attribute)
    var isText = !(value is UndecodedValue) && cell.text.utf8.count <= Self.longest
    var elements: [(name: String, value: StudioValue)] = []
    size = (value as? Data)?.count
    switch attribute {
    case let composite as NSCompositeAttributeDescription:
      let values = value as? [String: Any] ?? [:]
      elements = composite.elements.map { ($0.name, StudioValue(values[$0.name], $0)) }
    default:
      if attribute.attributeType == .binaryDataAttributeType { isText = false }
    }
    self.isText = isText
    self.elements = elements
  }

  /// The text with which a page's values are compared; nil for no value.
  var text: String? {
    if cell.json == .null { return nil }
    if attribute.attributeType == .transformableAttributeType, isText {
      switch cell.json {
      case .array, .object: return cell.json.text(indented: false)
      default: break
      }
    }
    return cell.text
  }

  /// The value in the form in which a page sends it.
  var edited: JSONValue {
    if !elements.isEmpty { return .object(elements.map { .init($0.name, $0.value.edited) }) }
    return text.map { .string($0) } ?? .null
  }

  func json(_ name: String) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init("name", .string(name)),
      .init("value", text.map { .string(Studio.shortened($0, to: Self.longest)) } ?? .null),
      .init("text", .bool(isText)),
    ]
    if !elements.isEmpty {
      members.append(.init("elements", .array(elements.map { $0.value.json($0.name) })))
    }
    if let size {
      members.append(.init("bytes", .int(size)))
      members.append(.init("picture", .bool(cell.text.contains("image"))))
    }
    return .object(members)
  }
}
