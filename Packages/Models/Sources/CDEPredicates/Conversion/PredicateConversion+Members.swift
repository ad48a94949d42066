internal import Foundation

// Optional to-many relationships. No object lacks its members in a store, where an empty collection and nil are one, and a model returns an
// empty collection for both. So members are nil only if an object on the way to them is.
extension PredicateConversion {
  /// Whether a type is that of a to-many relationship, optional or not.
  static func areMembers(_ type: Any.Type) -> Bool {
    func element<Members: Collection>(_ type: Members.Type) -> Any.Type { Members.Element.self }
    let type = (type as? any OptionalUnwrapping.Type)?.wrappedType ?? type
    if type is NSSet.Type || type is NSOrderedSet.Type { return true }
    guard let collection = type as? any Collection.Type else { return false }
    let member = element(collection)
    return member is AnyClass && member is any PredicateKeyPathNaming.Type
  }

  /// The object that members belong to, if it may be nil; nil if the members are always there.
  static func owner(of members: ExpressionTree) -> ExpressionTree? {
    switch members {
    case .keyPath(let path) where path.count > 1: .keyPath(Array(path.dropLast()))
    case .variableKeyPath(let variable, let path) where path.count > 1:
      .variableKeyPath(variable, Array(path.dropLast()))
    default: nil
    }
  }
}
