import CoreDataEvolution
import Hummingbird
import PackageModel

/// One changed object, as clients read of it.
struct ChangeEvent: Sendable, Equatable {
  /// Of the resource that the object belongs to.
  let path: String
  /// The fields `event` and `data` of server-sent events, each with its line break.
  let text: ByteBuffer
}

/// Makes events of the transactions in the store's history.
struct EventEncoder: Sendable {
  /// How many objects are read by one fetch.
  private static let readAtOnce = 500

  private let kinds: [String: Kind]

  init() {
    kinds = [
      Package.entityName: .of(Package.self), Version.entityName: .of(Version.self),
      Section.entityName: .of(Section.self), Maintainer.entityName: .of(Maintainer.self),
    ]
  }

  /// The paths of the resources that have events.
  var paths: Set<String> { Set(kinds.values.map(\.path)) }

  /// One event for each object that the transaction has changed.
  ///
  /// Changed objects are shown as they are now, which may be later than the transaction. Then another event follows.
  ///
  /// - Throws: the errors of reading.
  func events(_ transaction: NSPersistentHistoryTransaction, in context: NSManagedObjectContext) throws
    -> [ChangeEvent]
  {
    let changes = transaction.changes ?? []
    var objects: [NSManagedObjectID: Shown] = [:]
    for (name, kind) in kinds {
      let ids = changes.filter { $0.changeType != .delete && $0.changedObjectID.entity.name == name }
        .map(\.changedObjectID)
      for start in stride(from: 0, to: ids.count, by: Self.readAtOnce) {
        let found = try kind.read(Array(ids[start...].prefix(Self.readAtOnce)), context)
        objects.merge(found) { first, _ in first }
      }
    }
    return changes.compactMap { change in
      guard let name = change.changedObjectID.entity.name, let kind = kinds[name] else { return nil }
      return event(change, kind, objects[change.changedObjectID])
    }
  }

  /// - Returns: nil for an update of nothing that clients see.
  private func event(_ change: NSPersistentHistoryChange, _ kind: Kind, _ object: Shown?) -> ChangeEvent? {
    let name: StaticString
    var properties: [String]?
    switch change.changeType {
    case .insert: name = "insert"
    case .delete: name = "delete"
    case .update:
      name = "update"
      let changed = Set((change.updatedProperties ?? []).map(\.name))
      let seen = kind.fields.filter(changed.contains)
      if seen.isEmpty { return nil }
      properties = seen
    }
    var json = JSONWriter()
    json.beginObject()
    json.member("resource", .text(kind.path))
    json.member("id", .text(change.changedObjectID.rowName))
    if let properties { json.member("changed", .texts(properties)) }
    if let object {
      json.member("url", .text(object.address))
      json.member("etag", .text(object.representation.tag))
      json.member("object", json: object.representation.body)
    } else {
      json.member("object", .null)
    }
    json.endObject()
    var text = ByteBuffer()
    text.writeStaticString("event: ")
    text.writeStaticString(name)
    text.writeStaticString("\ndata: ")
    text.writeImmutableBuffer(json.buffer)
    text.writeStaticString("\n")
    return ChangeEvent(path: kind.path, text: text)
  }

  private struct Shown {
    let address: String
    let representation: Representation
  }

  private struct Kind: Sendable {
    let path: String
    let fields: [String]
    let read: @Sendable ([NSManagedObjectID], NSManagedObjectContext) throws -> [NSManagedObjectID: Shown]

    static func of<Entity: Resource>(_: Entity.Type) -> Kind {
      Kind(path: Entity.path, fields: Entity.fields.map(\.name)) { ids, context in
        let request = NSFetchRequest<Entity>(entityName: Entity.entityName)
        request.predicate = .make("SELF IN %@", ids)
        request.returnsObjectsAsFaults = false
        request.relationshipKeyPathsForPrefetching = Entity.relationships(isDetail: true)
        let objects = try context.fetch(request).map { object in
          (
            object.objectID,
            Shown(address: object.resourceAddress, representation: try object.representation())
          )
        }
        return Dictionary(uniqueKeysWithValues: objects)
      }
    }
  }
}
