@_spi(CDE) internal import CDEManagedModel
public import CDEModelFiles
@_spi(CDE) public import CDEPredicates
public import Foundation

/// The variable `$manager` of a mapping's expressions: the migration manager.
public let NSMigrationManagerKey = "manager"
/// The variable `$source`: the old object.
public let NSMigrationSourceObjectKey = "source"
/// The variable `$destination`: the new object.
public let NSMigrationDestinationObjectKey = "destination"
/// The variable `$entityMapping`: the mapping of the entity.
public let NSMigrationEntityMappingKey = "entityMapping"
/// The variable `$propertyMapping`: the mapping of the property.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// The variable `$entityPolicy`: the policy of the entity's mapping.
public let NSMigrationEntityPolicyKey = "entityPolicy"

/// Migrates the objects of one mapping. Subclasses do what expressions can't.
///
/// A mapping names its policy by `entityMigrationPolicyClassName`. The class is found by `Module.Name`, or
/// by a name that `NSStringFromClass` gave. A policy is made for each mapping and migration, by `init()`.
///
/// The manager calls the methods in Core Data's order, in three passes over the mappings:
///
/// 1. ``begin(_:with:)``, ``createDestinationInstances(forSource:in:manager:)`` for each old object,
///    ``endInstanceCreation(forMapping:manager:)``
/// 2. ``createRelationships(forDestination:in:manager:)`` for each new object,
///    ``endRelationshipCreation(forMapping:manager:)``
/// 3. ``performCustomValidation(forMapping:manager:)``, ``end(_:manager:)``
///
/// An error that a method throws ends the migration.
nonisolated open class NSEntityMigrationPolicy: NSObject {
  /// Makes a policy. The manager calls it.
  public required override init() { super.init() }

  /// Called first, before any object of the mapping is made. Does nothing.
  open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

  /// Makes the new objects of an old one: one object of the mapping's new entity, with the values of the attribute mappings,
  /// associated with the old one. An attribute that must have a value keeps its default where the mapping gives nil. A mapping
  /// without a new entity makes no object.
  ///
  /// - Parameters:
  ///   - sInstance: the old object, for which the source expression was true.
  ///   - mapping: the mapping.
  ///   - manager: the manager, whose contexts may be used.
  /// - Throws: ``ManagedObjectError`` for an expression that can't be computed, or a value that does not fit its attribute.
  open func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try manager.makeObject(of: sInstance, in: mapping, policy: self)
  }

  /// Called after all objects of the mapping were made. Does nothing.
  open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Sets the relationships of a new object to the values of the relationship mappings.
  ///
  /// - Parameters:
  ///   - dInstance: a new object that is associated with an old one by this mapping.
  ///   - mapping: the mapping.
  ///   - manager: the manager, which knows the old object.
  /// - Throws: ``ManagedObjectError`` for an expression that can't be computed, or objects of another entity.
  open func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try manager.relate(dInstance, in: mapping, policy: self)
  }

  /// Called after the relationships of all objects of the mapping were set. Does nothing.
  open func endRelationshipCreation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {}

  /// Called when all objects of all mappings have their relationships. Does nothing: the save validates the objects.
  open func performCustomValidation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {}

  /// Called last, before the save. Does nothing.
  open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// The result of a function that an expression of the mapping calls: `FUNCTION($entityPolicy, "titleOf:", $source)`.
  ///
  /// Core Data sends the selector to the policy. Swift on Linux has no selectors, so a policy with functions overrides this
  /// method and compares the name. Apple's Core Data does not have it.
  ///
  /// - Parameters:
  ///   - selector: the name in the expression, with a colon for each argument.
  ///   - arguments: the values of the arguments.
  /// - Returns: the value: what an attribute holds, an object or an array of objects.
  /// - Throws: ``ManagedObjectError`` with code `.migrationPolicy`, unless it is overridden.
  open func value(ofFunction selector: String, arguments: [Any?]) throws -> Any? {
    throw ManagedObjectError(
      .migrationPolicy,
      "The policy \(type(of: self)) has no function \(selector). Override value(ofFunction:arguments:), and return its "
        + "result there.")
  }
}

extension NSEntityMigrationPolicy: PredicateCallable {
  /// Calls ``value(ofFunction:arguments:)``.
  public func predicateValue(calling selector: String, arguments: [PredicateValue]) throws -> PredicateValue {
    try PredicateValue(value(ofFunction: selector, arguments: arguments.map(\.plainValue)))
  }
}

/// The name by which a migration policy can be found again, for `entityMigrationPolicyClassName`. Needed for private and
/// nested classes, which are not found by their module's name alone.
public func NSStringFromClass(_ type: NSEntityMigrationPolicy.Type) -> String {
  ManagedClassRegistry.register(type)
}
