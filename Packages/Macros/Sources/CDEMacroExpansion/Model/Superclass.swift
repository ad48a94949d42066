import SwiftDiagnostics
import SwiftSyntax

/// What a model class inherits from, as far as its declaration tells.
///
/// A macro cannot look the name up. A class that turns out to be no model is the type checker's to report,
/// with the message of a member of `NSManagedObject` that models hide.
enum Superclass {
  case managedObject
  /// Another model, spelled as in the source.
  case model(String)

  /// Nil when the class inherits from nothing, or from what is surely no model.
  init?(of type: ClassDeclSyntax) {
    guard let first = type.inheritanceClause?.inheritedTypes.first?.type else { return nil }
    let spelled = first.trimmedDescription
    let name = spelled.split(separator: ".").last.map(String.init) ?? spelled
    if name == "NSManagedObject" {
      self = .managedObject
    } else if Superclass.isPlainName(first), !Superclass.noModels.contains(name) {
      self = .model(spelled)
    } else {
      return nil
    }
  }

  /// The error for a class that inherits from no managed object.
  static func missing(_ type: ClassDeclSyntax) -> Diagnostic {
    let fixIt: FixIt
    if let first = type.inheritanceClause?.inheritedTypes.first {
      fixIt =
        first.type.trimmedDescription == "NSObject"
        ? .replacing("Inherit from NSManagedObject", first.type, with: "NSManagedObject")
        : .inserting("Inherit from NSManagedObject", "NSManagedObject, ", before: first)
    } else {
      fixIt = .inserting("Inherit from NSManagedObject", ": NSManagedObject", after: type.name)
    }
    return .make(
      "noManagedObject", at: type.name,
      "@PersistentModel type must inherit from NSManagedObject. It may do so through another "
        + "@PersistentModel class.", fixIts: [fixIt])
  }

  private static func isPlainName(_ type: TypeSyntax) -> Bool {
    if let name = type.as(IdentifierTypeSyntax.self) { return name.genericArgumentClause == nil }
    guard let member = type.as(MemberTypeSyntax.self) else { return false }
    return member.genericArgumentClause == nil && isPlainName(member.baseType)
  }

  /// What classes often name first and cannot inherit a model from: `NSObject`, and protocols.
  private static let noModels: Set<String> = [
    "AnyObject", "CaseIterable", "Codable", "Comparable", "CustomDebugStringConvertible",
    "CustomStringConvertible", "Decodable", "Encodable", "Equatable", "Error", "Hashable", "Identifiable",
    "LocalizedError", "NSCopying", "NSObject", "NSObjectProtocol", "Observable", "ObservableObject",
    "PersistentEntity", "Sendable",
  ]
}
