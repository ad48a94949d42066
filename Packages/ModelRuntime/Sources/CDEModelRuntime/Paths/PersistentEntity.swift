public import CDEPredicates
internal import Foundation

/// A class that `@PersistentModel` describes. The names and positions of its properties are known at compile
/// time.
public nonisolated protocol PersistentEntity: NSManagedObject, CDPropertyNaming, CoreDataKeys,
  CoreDataPathDSLProviding,
  PredicateKeyPathNaming
{}

/// Replaces the names of relationships for a class that is described by hand. It has all names.
@dynamicMemberLookup
public nonisolated struct _CDAnyRelationshipNames {
  /// Makes the value.
  public init() {}
  /// Accepts any name as the name of a relationship.
  public subscript(dynamicMember name: String) -> Void { () }
}

extension NSManagedObject {
  // Classes made by the macro have their own type of this name, which contains exactly the names of their
  // relationships.
  public typealias __CDRelationshipNames = _CDAnyRelationshipNames
}
