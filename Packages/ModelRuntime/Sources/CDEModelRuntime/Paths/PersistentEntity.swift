public import CDEPredicates
internal import Foundation

/// A class that `@PersistentModel` describes: its properties have names and places known at compile time.
public nonisolated protocol PersistentEntity: NSManagedObject, CDPropertyNaming, CoreDataKeys,
  CoreDataPathDSLProviding,
  PredicateKeyPathNaming
{}

/// Stands in for the names of relationships where a class is described by hand: every name is one.
@dynamicMemberLookup
public nonisolated struct _CDAnyRelationshipNames {
  /// Makes a listener, to be stamped on commits by ``NSManagedObjectContext/addCommitListener(_:)``.
  public init() {}
  /// Accepts any name as that of a relationship.
  public subscript(dynamicMember name: String) -> Void { () }
}

extension NSManagedObject {
  // Classes made by the macro have a type of this name that knows which names there are.
  public typealias __CDRelationshipNames = _CDAnyRelationshipNames
}
