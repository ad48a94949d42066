internal import CDEPredicates
public import Foundation

/// The way from a model to one related object; its dynamic members continue the path there.
@dynamicMemberLookup
public struct CDToOneRelationPath<Root: CoreDataPathTable, Target>: Sendable {
  /// Names as the code spells them, from the model to the related object.
  public let swiftPath: [String]
  /// Names as the store and predicates have them, from the model to the related object.
  public let persistentPath: [String]

  /// Makes a path by hand; expansions of the macros do so. Nothing checks that the model has such a
  /// relationship; a fetch that uses an unknown name throws.
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

  /// Holds for objects that have no related object here: `category == nil`.
  public func isNil() -> NSPredicate {
    NSPredicate(.compare(.keyPath(persistentPath), .equal, .constant(.null)))
  }

  /// Holds for objects that have a related object here: `category != nil`.
  public func isNotNil() -> NSPredicate {
    NSPredicate(.compare(.keyPath(persistentPath), .notEqual, .constant(.null)))
  }
}

extension CDToOneRelationPath where Target: PersistentEntity {
  /// Holds for objects whose related object is this one.
  ///
  /// The object is taken by its ID, so one that was never saved equals nothing in the store.
  public func equals(_ object: Target) -> NSPredicate {
    NSPredicate(
      .compare(.keyPath(persistentPath), .equal, .constant(.object(PredicateObject(object.objectID)))))
  }
}

/// The way from a model to many related objects. Say which of them a filter is about: ``any``, ``all`` or
/// ``none``.
public struct CDToManyRelationPath<Root: CoreDataPathTable, Target>: Sendable {
  /// Names as the code spells them, from the model to the relationship.
  public let swiftPath: [String]
  /// Names as the store and predicates have them, from the model to the relationship.
  public let persistentPath: [String]

  /// Makes a path by hand; expansions of the macros do so. Nothing checks that the model has such a
  /// relationship; a fetch that uses an unknown name throws.
  public init(swiftPath: [String], persistentPath: [String]) {
    self.swiftPath = swiftPath
    self.persistentPath = persistentPath
  }

  /// Some related object; false without any.
  public var any: CDQuantifiedToManyPath<Root, Target> { quantified(.any) }
  /// Every related object; true without any.
  public var all: CDQuantifiedToManyPath<Root, Target> { quantified(.all) }
  /// No related object; true without any.
  public var none: CDQuantifiedToManyPath<Root, Target> { quantified(.none) }

  private func quantified(_ quantifier: CDCollectionQuantifier) -> CDQuantifiedToManyPath<Root, Target> {
    CDQuantifiedToManyPath(quantifier: quantifier, relationshipSwiftPath: swiftPath)
  }
}

/// Which of many related objects a filter is about; its dynamic members are what is asked of them.
@dynamicMemberLookup
public struct CDQuantifiedToManyPath<Root: CoreDataPathTable, Target>: Sendable {
  /// Which of the related objects a comparison is about.
  public let quantifier: CDCollectionQuantifier
  /// Names as the code spells them, from the model to the relationship.
  public let relationshipSwiftPath: [String]

  /// Makes a path to some of the related objects, as ``CDToManyRelationPath/any`` and its like do.
  public init(quantifier: CDCollectionQuantifier, relationshipSwiftPath: [String]) {
    self.quantifier = quantifier
    self.relationshipSwiftPath = relationshipSwiftPath
  }

  /// A value of the related objects, to be compared.
  public subscript<Value>(
    dynamicMember member: KeyPath<Target.PathRoot, CDPath<Target, Value>>
  ) -> CDFilterField<Root, Value> where Target: CoreDataPathDSLProviding {
    let leaf = Target.path[keyPath: member]
    // A table made by hand may list the relationship alone, so the leaf's own names are used for the rest.
    let relationship = Root.__cdMeta(forSwiftPath: relationshipSwiftPath)
    return CDFilterField(
      swiftPath: relationshipSwiftPath + leaf.swiftPath,
      persistentPath: relationship.map { $0.persistentPath + leaf.persistentPath },
      storageMethod: leaf.storageMethod, quantifier: quantifier)
  }
}

extension CDToOneRelationPath: CDNamedPath {}
extension CDToManyRelationPath: CDNamedPath {}
