internal import CDEStore
public import Foundation

/// The identity of one saved object of a model. Pass it to another actor, process or machine instead of the
/// object.
///
/// Two handles are equal when they name the same row. Only a saved object has a handle, so a handle is never
/// temporary. It is encoded as the object's URI.
///
/// ```swift
/// let handle = try item.handle
/// await worker.archive(handle)
/// ```
public struct ModelHandle<Item: PersistentEntity>: Sendable, Hashable {
  let store: String
  let entity: String
  let key: Int64

  init(store: String, entity: String, key: Int64) {
    self.store = store
    self.entity = entity
    self.key = key
  }

  /// The handle of an object, or nil if it was never saved.
  ///
  /// Call it on the object's own isolation.
  public init?(_ object: Item) {
    guard !object.isUnsaved, let store = object.objectID.store?.identifier else { return nil }
    self.init(store: store, entity: object._binding.name, key: object.objectID.ownKey)
  }

  /// The URI of the object's permanent ID: `x-coredata://<store UUID>/<Entity>/p<key>`.
  public var uriRepresentation: URL {
    NSManagedObjectID.uri(store: store, entity: entity, last: "p\(key)")
  }

  /// Reads a URI from ``uriRepresentation`` or from an object ID.
  ///
  /// - Throws: ``ManagedObjectError`` with code `.malformedHandle` for other URIs, temporary IDs included.
  ///   Whether the row exists and is an `Item` is checked when the handle is used.
  public init(uriRepresentation uri: URL) throws {
    let parts = uri.pathComponents.filter { $0 != "/" }
    guard uri.scheme == "x-coredata", let store = uri.host(percentEncoded: false), !store.isEmpty,
      parts.count == 2,
      parts[1].hasPrefix("p"), let key = Int64(parts[1].dropFirst()), key > 0
    else {
      throw ManagedObjectError(
        .malformedHandle,
        "This is no URI of a saved object, which reads x-coredata://<store>/<Entity>/p<number>. Take it from "
          + "a handle, or from the ID of an object that was saved.")
    }
    // URL converts a host to lower case. Stores write their UUIDs in upper case.
    self.init(store: store.uppercased(), entity: parts[0], key: key)
  }
}

extension ModelHandle: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do {
      try self.init(uriRepresentation: try container.decode(URL.self))
    } catch let error as ManagedObjectError {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(uriRepresentation)
  }
}

extension ModelHandle: CustomStringConvertible {
  public var description: String { "<\(uriRepresentation.absoluteString)>" }
}

extension ManagedObjectError.Code {
  /// The object was never saved, so it has no permanent identity.
  public static let unsavedObject = Self(rawValue: "unsavedObject")
  /// A text or URI is no handle.
  public static let malformedHandle = Self(rawValue: "malformedHandle")
  /// Changes can't be applied, because the object was changed to other values;
  /// ``ManagedObjectError/failures`` has one error for each property.
  public static let changeConflict = Self(rawValue: "changeConflict")
}

extension NSManagedObject {
  /// Whether the object has no row. An ID may be permanent before the first save.
  final var isUnsaved: Bool { !isStored }

  final func unsavedError(_ what: String) -> ManagedObjectError {
    ManagedObjectError(
      .unsavedObject,
      "This \(_binding.name) was never saved, so it has no \(what). Save its context first.",
      entity: _binding.name, objectID: _key == 0 ? nil : objectID)
  }
}

extension PersistentEntity {
  /// The type that represents an object of this model on other actors.
  public typealias Handle = ModelHandle<Self>

  /// The object's handle.
  ///
  /// - Throws: ``ManagedObjectError`` with code `.unsavedObject` before the first save.
  public var handle: ModelHandle<Self> {
    get throws {
      guard let handle = ModelHandle(self) else { throw unsavedError("handle") }
      return handle
    }
  }
}

extension NSManagedObjectContext {
  /// The object that a handle names: the registered one, or one whose row is read by this call.
  ///
  /// - Throws: ``ManagedObjectError``: `.objectNotFound` when the row does not exist, belongs to another
  ///   store or is no `Item`; `.unknownEntity` when the context's model has no such entity.
  public func object<Item>(for handle: ModelHandle<Item>) throws -> Item {
    preconditionIsolated("object(for:)")
    guard let model = modelBinding else { throw missingCoordinator }
    guard let binding = model.entity(named: handle.entity) else {
      throw ManagedObjectError(
        .unknownEntity,
        "The context's model has no entity \(handle.entity), which the handle \(handle) names. Use the handle "
          + "with a container of the model it comes from.", entity: handle.entity)
    }
    let stores = persistentStoreCoordinator?.handles(for: binding) ?? []
    guard let store = stores.first(where: { $0.identifier == handle.store }) else {
      throw ManagedObjectError(
        .objectNotFound,
        "The handle \(handle) names an object of a store that this context does not have. Load that store "
          + "first.", entity: handle.entity)
    }
    // A key beyond the range of a store's keys names no row.
    let id = NSManagedObjectID(binding: binding, key: store.key(handle.key) ?? .max, store: store)
    guard let item = try existingObject(with: id) as? Item else {
      throw ManagedObjectError(
        .objectNotFound, "The handle \(handle) names no \(Item.self).", entity: handle.entity, objectID: id)
    }
    return item
  }
}

extension NSModelActor {
  /// The object that a handle names, or nil when there is none.
  public subscript<Item>(handle: ModelHandle<Item>) -> Item? { try? modelContext.object(for: handle) }
}

extension NSMainModelActor {
  /// The object that a handle names, or nil when there is none.
  public subscript<Item>(handle: ModelHandle<Item>) -> Item? { try? modelContext.object(for: handle) }
}
