internal import CDEManagedModel
@_spi(CDE) internal import CDEModelRuntime

/// What a transaction of the history did to one model.
///
/// ```swift
/// switch change {
/// case .insert(let insert as DefaultHistoryInsert<Trip>): upload(insert.changedPersistentIdentifier)
/// case .update(let update as DefaultHistoryUpdate<Trip>) where update.updatedAttributes.contains(\.name): rename()
/// case .delete(let delete as DefaultHistoryDelete<Trip>): remove(delete.tombstone[\.code])
/// default: break
/// }
/// ```
public enum HistoryChange: Sendable {
  /// The model was inserted.
  case insert(any HistoryInsert)
  /// Properties of the model changed.
  case update(any HistoryUpdate)
  /// The model was deleted.
  case delete(any HistoryDelete)

  /// The identity of the model. There may be no such model any more.
  public var changedPersistentIdentifier: PersistentIdentifier {
    switch self {
    case .insert(let insert): insert.changedPersistentIdentifier
    case .update(let update): update.changedPersistentIdentifier
    case .delete(let delete): delete.changedPersistentIdentifier
    }
  }
}

/// The insertion of a model, in a history.
public protocol HistoryInsert<Model>: Sendable {
  /// The class of the model.
  associatedtype Model: PersistentModel
  /// What tells the changes of a store apart.
  associatedtype ChangeIdentifier: Hashable, Sendable
  /// What tells the transactions of a store apart.
  associatedtype TransactionIdentifier: Hashable, Sendable

  /// The identity of the change in its store.
  var changeIdentifier: ChangeIdentifier { get }
  /// The identity of the model.
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// The identity of the transaction in its store.
  var transactionIdentifier: TransactionIdentifier { get }
}

/// The change of a model's properties, in a history.
public protocol HistoryUpdate<Model>: Sendable {
  /// The class of the model.
  associatedtype Model: PersistentModel
  /// What tells the changes of a store apart.
  associatedtype ChangeIdentifier: Hashable, Sendable
  /// What tells the transactions of a store apart.
  associatedtype TransactionIdentifier: Hashable, Sendable

  /// The identity of the change in its store.
  var changeIdentifier: ChangeIdentifier { get }
  /// The identity of the model.
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// The identity of the transaction in its store.
  var transactionIdentifier: TransactionIdentifier { get }
  /// The properties that changed, attributes and relationships.
  var updatedAttributes: [any PartialKeyPath<Model> & Sendable] { get }
}

/// The deletion of a model, in a history.
public protocol HistoryDelete<Model>: Sendable {
  /// The class of the model.
  associatedtype Model: PersistentModel
  /// What tells the changes of a store apart.
  associatedtype ChangeIdentifier: Hashable, Sendable
  /// What tells the transactions of a store apart.
  associatedtype TransactionIdentifier: Hashable, Sendable

  /// The identity of the change in its store.
  var changeIdentifier: ChangeIdentifier { get }
  /// The identity that the model had.
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// The identity of the transaction in its store.
  var transactionIdentifier: TransactionIdentifier { get }
  /// The last values of the attributes with `.preserveValueOnDeletion`.
  var tombstone: HistoryTombstone<Model> { get }
}

extension HistoryDelete {
  /// The last value of an attribute with `.preserveValueOnDeletion`; nil if the history does not have it.
  public subscript<Value>(_ keyPath: KeyPath<Model, Value>) -> Value? { tombstone[keyPath] }
}

// MARK: Changes of this library's stores

/// The insertion of a model, in the history of one of this library's stores.
public struct DefaultHistoryInsert<Model: PersistentModel>: HistoryInsert {
  /// The number of the change in its store.
  public let changeIdentifier: Int64
  /// The identity of the model.
  public let changedPersistentIdentifier: PersistentIdentifier
  /// The number of the transaction in its store.
  public let transactionIdentifier: Int64
}

/// The change of a model's properties, in the history of one of this library's stores.
public struct DefaultHistoryUpdate<Model: PersistentModel>: HistoryUpdate {
  /// The number of the change in its store.
  public let changeIdentifier: Int64
  /// The identity of the model.
  public let changedPersistentIdentifier: PersistentIdentifier
  /// The number of the transaction in its store.
  public let transactionIdentifier: Int64
  /// The properties that changed, attributes and relationships, in the order of their declaration.
  ///
  /// A history that another program wrote may not say which. Then it is empty.
  public let updatedAttributes: [any PartialKeyPath<Model> & Sendable]
}

/// The deletion of a model, in the history of one of this library's stores.
public struct DefaultHistoryDelete<Model: PersistentModel>: HistoryDelete {
  /// The number of the change in its store.
  public let changeIdentifier: Int64
  /// The identity that the model had.
  public let changedPersistentIdentifier: PersistentIdentifier
  /// The number of the transaction in its store.
  public let transactionIdentifier: Int64
  /// The last values of the attributes with `.preserveValueOnDeletion`.
  public let tombstone: HistoryTombstone<Model>
}

extension HistoryChange {
  /// - Returns: nil if the schema has no class for the change.
  init?(_ change: NSPersistentHistoryChange, _ schema: PreparedSchema) {
    let id = change.changedObjectID
    guard let transaction = change.transaction, let name = id.entity.name,
      let info = schema.info(named: name)
    else { return nil }
    self = Self.make(info.type, change, transaction.transactionNumber, PersistentIdentifier(id))
  }

  private static func make<Model: PersistentModel>(
    _ type: Model.Type, _ change: NSPersistentHistoryChange, _ transaction: Int64, _ id: PersistentIdentifier
  ) -> HistoryChange {
    switch change.changeType {
    case .insert:
      .insert(
        DefaultHistoryInsert<Model>(
          changeIdentifier: change.changeID, changedPersistentIdentifier: id,
          transactionIdentifier: transaction))
    case .update:
      .update(
        DefaultHistoryUpdate<Model>(
          changeIdentifier: change.changeID, changedPersistentIdentifier: id,
          transactionIdentifier: transaction, updatedAttributes: paths(of: change)))
    case .delete:
      .delete(
        DefaultHistoryDelete<Model>(
          changeIdentifier: change.changeID, changedPersistentIdentifier: id,
          transactionIdentifier: transaction,
          tombstone: HistoryTombstone(change.tombstone ?? [:], change.changedObjectID.entity)))
    }
  }

  private static func paths<Model: PersistentModel>(
    of change: NSPersistentHistoryChange
  ) -> [any PartialKeyPath<Model> & Sendable] {
    let names = Set((change.updatedProperties ?? []).map(\.name))
    return zip(_ModelInfo.of(Model.self).names, Model._$propertyPaths()).compactMap { name, path in
      guard names.contains(name), let path = path as? PartialKeyPath<Model> else { return nil }
      // Key paths of properties capture nothing, so they are immutable. No cast can name Sendable.
      return unsafeBitCast(path, to: (any PartialKeyPath<Model> & Sendable).self)
    }
  }
}
