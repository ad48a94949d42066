internal import CDEPredicates
public import Foundation

/// A path from a model to one related object. Its dynamic members continue the path.
@dynamicMemberLookup
public struct CDToOneRelationPath<Root: CoreDataPathTable, Target>: Sendable {
  /// The names in code, from the model to the related object.
  public let swiftPath: [String]
  /// The names in the store and in predicates, from the model to the related object.
  public let persistentPath: [String]

  /// Makes a path by hand. Called by expansions of the macros. It is not checked whether the model has such a
  /// relationship. A fetch with an unknown name throws.
  public init(swiftPath: [String], persistentPath: [String]) {
    self.swiftPath = swiftPath
    self.persistentPath = persistentPath
  }

  /// The persistent path joined by dots.
  public var persistentPathKey: String { persistentPath.joined(separator: ".") }

  /// The path to a value of the related object.
  public subscript<Value>(
    dynamicMember member: KeyPath<Target.PathRoot, CDPath<Target, Value>>
  ) -> CDPath<Root, Value> where Target: CoreDataPathDSLProviding {
    let leaf = Target.path[keyPath: member]
    return CDPath(
      swiftPath: swiftPath + leaf.swiftPath, persistentPath: persistentPath + leaf.persistentPath,
      storageMethod: leaf.storageMethod)
  }

  /// The path to an object related to the related object.
  public subscript<Next>(
    dynamicMember member: KeyPath<Target.PathRoot, CDToOneRelationPath<Target, Next>>
  ) -> CDToOneRelationPath<Root, Next> where Target: CoreDataPathDSLProviding {
    let next = Target.path[keyPath: member]
    return CDToOneRelationPath<Root, Next>(
      swiftPath: swiftPath + next.swiftPath, persistentPath: persistentPath + next.persistentPath)
  }

  /// The condition that the object has no related object here: `category == nil`.
  public func isNil() -> NSPredicate {
    NSPredicate(.compare(.keyPath(persistentPath), .equal, .constant(.null)))
  }

  /// The condition that the object has a related object here: `category != nil`.
  public func isNotNil() -> NSPredicate {
    NSPredicate(.compare(.keyPath(persistentPath), .notEqual, .constant(.null)))
  }
}

extension CDToOneRelationPath where Target: PersistentEntity {
  /// The condition that the related object is this one.
  ///
  /// Objects are compared by their IDs, so an object that was never saved equals none in the store.
  public func equals(_ object: Target) -> NSPredicate {
    NSPredicate(
      .compare(.keyPath(persistentPath), .equal, .constant(.object(PredicateObject(object.objectID)))))
  }
}

/// A path from a model to many related objects. Select the objects of a filter by ``any``, ``all`` or
/// ``none``.
public struct CDToManyRelationPath<Root: CoreDataPathTable, Target>: Sendable {
  /// The names in code, from the model to the relationship.
  public let swiftPath: [String]
  /// The names in the store and in predicates, from the model to the relationship.
  public let persistentPath: [String]

  /// Makes a path by hand. Called by expansions of the macros. It is not checked whether the model has such a
  /// relationship. A fetch with an unknown name throws.
  public init(swiftPath: [String], persistentPath: [String]) {
    self.swiftPath = swiftPath
    self.persistentPath = persistentPath
  }

  /// At least one related object; false if there are none.
  public var any: CDQuantifiedToManyPath<Root, Target> { quantified(.any) }
  /// All related objects; true if there are none.
  public var all: CDQuantifiedToManyPath<Root, Target> { quantified(.all) }
  /// No related object; true if there are none.
  public var none: CDQuantifiedToManyPath<Root, Target> { quantified(.none) }

  private func quantified(_ quantifier: CDCollectionQuantifier) -> CDQuantifiedToManyPath<Root, Target> {
    CDQuantifiedToManyPath(quantifier: quantifier, relationshipSwiftPath: swiftPath)
  }
}

/// Selects which of many related objects a filter concerns. Its dynamic members are the properties to
/// compare.
@dynamicMemberLookup
public struct CDQuantifiedToManyPath<Root: CoreDataPathTable, Target>: Sendable {
  /// The related objects that a comparison concerns.
  public let quantifier: CDCollectionQuantifier
  /// The names in code, from the model to the relationship.
  public let relationshipSwiftPath: [String]

  /// Makes a path to the selected related objects, as ``CDToManyRelationPath/any`` and similar properties do.
  public init(quantifier: CDCollectionQuantifier, relationshipSwiftPath: [String]) {
    self.quantifier = quantifier
    self.relationshipSwiftPath = relationshipSwiftPath
  }

  /// A value of the related objects, for comparisons.
  public subscript<Value>(
    dynamicMember member: KeyPath<Target.PathRoot, CDPath<Target, Value>>
  ) -> CDFilterField<Root, Value> where Target: CoreDataPathDSLProviding {
    let leaf = Target.path[keyPath: member]
    // A table made by hand may contain only the relationship. Then the leaf's own names complete the path.
    let relationship = Root.__cdMeta(forSwiftPath: relationshipSwiftPath)
    return CDFilterField(
      swiftPath: relationshipSwiftPath + leaf.swiftPath,
      persistentPath: relationship.map { $0.persistentPath + leaf.persistentPath },
      storageMethod: leaf.storageMethod, quantifier: quantifier)
  }
}

extension CDToOneRelationPath: CDNamedPath {}
extension CDToManyRelationPath: CDNamedPath {}
