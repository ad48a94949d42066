@_spi(CDE) public import CDEManagedModel
public import CDEPredicates
internal import CDEStore
public import Foundation

/// How a transaction of the history changed an object.
public enum NSPersistentHistoryChangeType: Int, Sendable {
  /// The object was inserted.
  case insert = 0
  /// Properties of the object changed.
  case update = 1
  /// The object was deleted.
  case delete = 2
}

/// The change of one object by a transaction of the history.
///
/// Immutable. Any isolation may use it.
nonisolated public final class NSPersistentHistoryChange: NSObject, NSFetchRequestResult, @unchecked Sendable
{
  // Guard: immutable.

  private let record: StoreHistoryChange
  private let owner: NSPersistentHistoryTransaction

  init(_ record: StoreHistoryChange, of transaction: NSPersistentHistoryTransaction) {
    self.record = record
    owner = transaction
    super.init()
  }

  private var binding: EntityBinding { owner.model.entities[record.entity] }

  /// The number of the change in its store.
  public var changeID: Int64 { record.number }
  /// The ID of the object. There may be no such object any more.
  public var changedObjectID: NSManagedObjectID {
    NSManagedObjectID(binding: binding, key: record.key, store: owner.store)
  }
  /// What happened to the object.
  public var changeType: NSPersistentHistoryChangeType {
    switch record.kind {
    case .inserted: .insert
    case .updated: .update
    case .deleted: .delete
    }
  }
  /// The transaction of the change.
  public var transaction: NSPersistentHistoryTransaction? { owner }

  /// The last values of a deleted object, by name, of attributes with `preservesValueInHistoryOnDeletion`; nil for other
  /// changes. Attributes without a value are left out, and so are values in files of their own, which are deleted with the object.
  public var tombstone: [AnyHashable: Any]? {
    guard record.kind == .deleted else { return nil }
    var values: [AnyHashable: Any] = [:]
    for (slot, value) in record.tombstone {
      let property = binding.layout.properties[slot]
      guard case .attribute(let attribute) = property.kind else { continue }
      let inline = attribute.allowsExternalStorage ? value.inlineBytes : value
      if let plain = inline?.plain(as: attribute.type) { values[property.name] = plain }
    }
    for (slot, leafValues) in record.compositeTombstone {
      let property = binding.layout.properties[slot]
      guard case .composite(let attribute) = property.kind else { continue }
      let leaves = attribute.leaves
      guard leaves.count == leafValues.count else { continue }
      values[property.name] = attribute.elements.dictionary { leafValues[$0].plain(as: leaves[$0].type) }
    }
    return values
  }

  /// The properties that an update changed; nil for other changes, and if the history does not say which.
  ///
  /// A history may name the columns of another model, which its length shows. The change then has all stored properties,
  /// so that a reader that waits for one of them misses nothing, and `Diagnostics` says so once for each entity.
  public var updatedProperties: Set<NSPropertyDescription>? {
    guard record.kind == .updated, let slots = record.properties else { return nil }
    let names = binding.description.propertiesByName
    return Set(slots.compactMap { names[binding.layout.properties[$0].name] })
  }

  /// The entity of changes, for requests with predicates on `changeID`, `changeType`, `changedObjectID` and
  /// `changedEntity`.
  public class var entityDescription: NSEntityDescription? { HistoryEntities.change }

  /// A new request for changes, to be given a predicate.
  public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    NSFetchRequest<any NSFetchRequestResult>(entityName: HistoryEntities.changeName)
  }

  public override var description: String {
    "<NSPersistentHistoryChange \(record.number): \(changeType) of \(changedObjectID.uriRepresentation().absoluteString)>"
  }
}

extension StoreValue {
  /// The bytes of a cell that may name a file instead; nil if it does.
  fileprivate var inlineBytes: StoreValue? {
    guard case .blob(let data) = self else { return self }
    switch data.withUnsafeBytes({ ExternalValue(cell: $0) }) {
    case .inline(let bytes): return .blob(Data(bytes))
    case .file: return nil
    case nil: return self
    }
  }
}

extension NSPersistentHistoryChange: PredicateValueProviding {
  /// The value of a property, for predicates. `transaction` leads to the properties of the transaction.
  ///
  /// - Throws: ``ManagedObjectError`` with code `.predicate` for another key.
  public func predicateValue(forKey key: String) throws -> PredicateValue {
    switch key {
    case "changeID": try PredicateValue(changeID)
    case "changeType": try PredicateValue(changeType.rawValue)
    case "changedObjectID": .constant(.object(PredicateObject(changedObjectID)))
    case "changedEntity": .object(EntityReference(name: binding.name))
    case "transaction": .object(owner)
    default:
      throw ManagedObjectError(
        .predicate,
        "Changes of the history have no property \"\(key)\". They have changeID, changeType, changedObjectID, "
          + "changedEntity and transaction.")
    }
  }

  /// Changes are compared by identity.
  public var predicateReference: PredicateObject? { nil }
}
