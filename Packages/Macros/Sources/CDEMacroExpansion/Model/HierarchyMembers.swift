import SwiftSyntax
import SwiftSyntaxBuilder

/// What a model has instead of its tables when others may inherit from it, or it inherits from one.
///
/// A class inherits the conformances of its parent, and with them every witness. So the witnesses of such
/// models are the runtime's: they ask the class for its lineage, the one member that classes override.
struct HierarchyMembers {
  let model: ModelDeclaration

  private var access: String { model.access.prefix }
  private var name: String { model.name }

  var declarations: [DeclSyntax] { [pathRoot, lineage, ownLineage, predicateKey] }

  /// Says that the class is of a hierarchy; its paths have a type of another name, which classes hide.
  private var pathRoot: DeclSyntax { "\(raw: access)typealias PathRoot = CDHierarchyPaths" }

  private var lineage: DeclSyntax {
    """
    \(raw: model.overridableAccess)nonisolated override class var __cdLineage: CDModelLineage? {
      __cdOwnLineage
    }
    """
  }

  private var ownLineage: DeclSyntax {
    var arguments = [
      "\(name).self",
      "parent: \(model.parent.map { "\($0).__cdLineage" } ?? "nil")",
      "schema: \(SchemaFunction.name)()",
      "propertyNames: [\(model.properties.map(\.persistentName.quoted).joined(separator: ", "))]",
      "swiftNames: [\(model.properties.map(\.name.quoted).joined(separator: ", "))]",
      "predicateKey: { \(name).__cdPredicateKey(for: $0, root: \(name).self) }",
      "attributes: { \(name).__cdMakeRelationshipProjectionTable() }",
      "relationships: { \(name).__cdMakeFieldTable() }",
    ]
    if model.options.isObserved { arguments.append("observation: \(observation)") }
    return """
      private nonisolated static let __cdOwnLineage = CDModelLineage(
        \(raw: arguments.joined(separator: ",\n  ")))
      """
  }

  private var observation: String {
    let paths = model.properties.map { property in
      "[\(ObservedMembers(model: model).paths(of: property).map(\.bare.quoted).joined(separator: ", "))]"
    }
    let transient = model.properties.filter(\.isTransient).map(\.persistentName.quoted)
    return "CDModelObservation(paths: [\(paths.joined(separator: ", "))], "
      + "transient: [\(transient.joined(separator: ", "))], "
      + "wake: { object, fields in (object as? \(name))?.__cdInvalidate(fields) })"
  }

  /// Key paths differ by the class they start from, and code writes them from the class that inherits.
  private var predicateKey: DeclSyntax {
    let parent = model.parent.map { "\($0).__cdPredicateKey(for: keyPath, root: root)" } ?? "nil"
    let tests =
      model.properties.isEmpty ? [] : PredicateKeyTests(model: model, root: "__Root").statements
    return """
      @_nonoverride \(raw: access)nonisolated static func __cdPredicateKey<__Root: \(raw: name)>(\
      for keyPath: Swift.AnyKeyPath, root: __Root.Type) -> Swift.String? {
        \(raw: (tests + ["return \(parent)"]).joined(separator: "\n  "))
      }
      """
  }

  /// Ordinals go on where the parent's end. Another module can fold them only if it sees the bodies.
  var ordinals: DeclSyntax {
    let attribute = access == "public " ? "@inlinable @inline(__always)" : "@inline(__always)"
    func declared(_ identifier: String, _ ordinal: Int) -> String {
      let value = model.parent.map { "\($0).__CDOrdinal.__cdCount + \(ordinal)" } ?? "\(ordinal)"
      return "\(attribute) \(access)static var \(identifier): CDOrdinal {\n    \(value)\n  }"
    }
    let ordinals = model.properties.enumerated().map { declared($0.element.identifier, $0.offset) }
    return """
      \(raw: access)nonisolated enum __CDOrdinal {
        \(raw: (ordinals + [declared("__cdCount", model.properties.count)]).joined(separator: "\n  "))
      }
      """
  }
}

extension String {
  /// An identifier without the backticks that let it be a keyword.
  fileprivate var bare: String { TokenSyntax.identifier(self).bareName }
}
