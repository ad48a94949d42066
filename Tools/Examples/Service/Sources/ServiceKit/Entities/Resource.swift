import CoreDataEvolution
import Hummingbird

/// A class of objects that the service shows, by a unique key in its address.
protocol Resource: NSManagedObject, PersistentEntity {
  static var entityName: String { get }
  /// The first part of the addresses, such as `packages`.
  static var path: String { get }
  /// The attribute that identifies an object in its address.
  static var keyName: String { get }
  static var fields: [Field<Self>] { get }
  var resourceKey: String { get }
  /// Called before a save that follows values of a request.
  func willSaveRequest()
}

extension Resource {
  func willSaveRequest() {}

  static func field(_ name: String) -> Field<Self>? { fields.first { $0.name == name } }

  /// The objects of these keys, in this order.
  ///
  /// - Throws: ``UnknownName`` for a key that no object has.
  static func find(_ keys: [String], in context: NSManagedObjectContext) throws -> [Self] {
    let request = NSFetchRequest<Self>(entityName: entityName)
    request.predicate = NSPredicate(format: "\(keyName) IN %@", keys)
    let found = Dictionary(uniqueKeysWithValues: try context.fetch(request).map { ($0.resourceKey, $0) })
    return try keys.map { key in
      guard let object = found[key] else { throw UnknownName(entity: entityName, name: key) }
      return object
    }
  }

  /// The object of a key, with all that an answer shows of it.
  static func find(_ key: String, in context: NSManagedObjectContext) throws -> Self? {
    let request = NSFetchRequest<Self>(entityName: entityName)
    request.predicate = NSPredicate(format: "\(keyName) == %@", key)
    request.fetchLimit = 1
    request.returnsObjectsAsFaults = false
    // A getter can't throw. So the related rows are read here, where an error is one.
    request.relationshipKeyPathsForPrefetching = relationships(isDetail: true)
    return try context.fetch(request).first
  }

  /// The relationships that a page or an object shows.
  static func relationships(isDetail: Bool) -> [String] {
    fields.compactMap { field in
      switch field.kind {
      case .reference: field.name
      case .references: isDetail ? field.name : nil
      case .text, .integer, .flag: nil
      }
    }
  }

  /// Sets the fields that a request names.
  ///
  /// - Throws: a ``Problem`` with status 422 that names the field.
  func set(_ values: FieldValues, in context: NSManagedObjectContext) throws {
    for (name, value) in values.values.sorted(by: { $0.key < $1.key }) {
      guard let field = Self.field(name) else {
        throw Problem.field(name, of: Self.entityName, "\(Self.entityName) has no field \(name).")
      }
      guard let set = field.set else {
        throw Problem.field(name, of: Self.entityName, "The field \(name) can't be set.")
      }
      do { try set(self, value, context) } catch let error as WrongValue {
        throw Problem.field(name, of: Self.entityName, "The field \(name) needs \(error.expected).")
      } catch let error as UnknownName {
        throw Problem.field(
          name, of: Self.entityName, "There is no \(error.entity) \(error.name). Make it first.")
      }
    }
    willSaveRequest()
  }

  /// Reads the relationships that an answer shows, of a new object, which has no members in the store.
  ///
  /// What is read before the first save stays known after it. Otherwise the answer would ask the store.
  func knowRelatedObjects() {
    for field in Self.fields where field.isDetail { _ = field.get(self) }
  }

  /// The object's number in the store, such as `p12`. It stays the same when the object gets another name.
  var rowName: String { objectID.rowName }

  var resourceAddress: String { "/\(Self.path)/\(resourceKey.escaped)" }

  /// Writes the object's values.
  ///
  /// - Parameter isDetail: with the fields that need further rows.
  func write(to json: inout JSONWriter, isDetail: Bool) {
    json.beginObject()
    json.member("id", .text(rowName))
    for field in Self.fields where isDetail || !field.isDetail { json.member(field.name, field.get(self)) }
    json.endObject()
  }

  /// What a request for the object is answered with.
  ///
  /// - Throws: `ManagedObjectError` for an object that has no row.
  func representation() throws -> Representation {
    var json = JSONWriter()
    write(to: &json, isDetail: true)
    return Representation(json.buffer, of: rowName, version: try snapshot().version)
  }
}

extension NSManagedObjectID {
  /// Like the last part of the ID's address.
  var rowName: String { primaryKey.map { "p\($0)" } ?? "" }
}

/// An object as JSON, and its entity tag.
///
/// The tag has the number and the version of the object's row: an object that is deleted and made anew has another one. It has a checksum
/// of the text as well, because the text shows names of related objects, which change without the row.
struct Representation: Sendable {
  let body: ByteBuffer
  let tag: String

  init(_ body: ByteBuffer, of row: String, version: Int64) {
    self.body = body
    // FNV-1a, the same on all machines.
    var checksum: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in body.readableBytesView { checksum = (checksum ^ UInt64(byte)) &* 0x100_0000_01b3 }
    tag = "\"\(row)-\(version)-\(String(checksum, radix: 36))\""
  }
}
