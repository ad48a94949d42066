import SwiftSyntax
import SwiftSyntaxBuilder

/// What an observed model has besides: recording of reads, and waking of exactly their readers.
struct ObservedMembers {
  let model: ModelDeclaration

  private var access: String { model.access.prefix }
  private var name: String { model.name }

  var declarations: [DeclSyntax] {
    [recordAccess, fieldMap, swiftPaths, keyPaths, invalidateFields, invalidateAll]
  }

  /// The key paths a field stands for: the property, and for a to-many also its count.
  private func paths(of property: ModelProperty) -> [String] {
    property.isToMany && model.options.generateToManyCount
      ? [property.identifier, property.countName] : [property.identifier]
  }

  private var recordAccess: DeclSyntax {
    """
    @inline(__always)
    private nonisolated func __cdAccess<Value>(_ keyPath: @autoclosure () -> KeyPath<\(raw: name), Value>) {
      if let registrar = _cdTrackingRegistrar() {
        registrar.access(self, keyPath: keyPath())
      }
    }
    """
  }

  private var fieldMap: DeclSyntax {
    let entries = model.properties.enumerated().filter { !$0.element.isTransient }.map {
      "\($0.element.persistentName.quoted): CDEObservationFieldSet(rawValues: [\($0.offset)])"
    }
    let literal = entries.isEmpty ? "[:]" : "[\n    \(entries.joined(separator: ",\n    "))\n  ]"
    return """
      \(raw: access)nonisolated static let __cdObservationFieldMap: CDEObservationFieldMap = \
      CDEObservationFieldMap(
        fieldsByCoreDataKey: \(raw: literal)
      )
      """
  }

  private var swiftPaths: DeclSyntax {
    collector("__cdObservationSwiftPaths", element: "String") { $0.quoted }
  }

  private var keyPaths: DeclSyntax {
    collector("__cdObservationKeyPaths", element: "PartialKeyPath<\(name)>") { "\\.\($0)" }
  }

  private func collector(
    _ function: String, element: String, _ value: (String) -> String
  ) -> DeclSyntax {
    let tests = model.properties.enumerated().map { ordinal, property in
      let appends = paths(of: property).map { "paths.append(\(value($0)))" }
      return """
        if fieldSet.contains(rawValue: \(ordinal)) {
            \(appends.joined(separator: "\n    "))
          }
        """
    }
    guard !tests.isEmpty else {
      return """
        \(raw: access)nonisolated static func \(raw: function)(\
        for fieldSet: CDEObservationFieldSet) -> [\(raw: element)] {
          []
        }
        """
    }
    return """
      \(raw: access)nonisolated static func \(raw: function)(\
      for fieldSet: CDEObservationFieldSet) -> [\(raw: element)] {
        var paths: [\(raw: element)] = []
        \(raw: tests.joined(separator: "\n  "))
        return paths
      }
      """
  }

  private func wake(_ property: ModelProperty) -> [String] {
    paths(of: property).map { "registrar.withMutation(of: self, keyPath: \\\(name).\($0)) {}" }
  }

  private var invalidateFields: DeclSyntax {
    let tests = model.properties.enumerated().map { ordinal, property in
      """
      if fieldSet.contains(rawValue: \(ordinal)) {
          \(wake(property).joined(separator: "\n    "))
        }
      """
    }
    return invalidation("__cdObservationInvalidate(fieldSet: CDEObservationFieldSet)", tests)
  }

  private var invalidateAll: DeclSyntax {
    invalidation("__cdObservationInvalidateAllObservableKeyPaths()", model.properties.flatMap(wake))
  }

  private func invalidation(_ signature: String, _ statements: [String]) -> DeclSyntax {
    guard !statements.isEmpty else {
      return "\(raw: access)nonisolated func \(raw: signature) {\n}"
    }
    // No registrar means that nobody ever read under tracking.
    return """
      \(raw: access)nonisolated func \(raw: signature) {
        guard let registrar = _cdExistingRegistrar() else {
          return
        }
        \(raw: statements.joined(separator: "\n  "))
      }
      """
  }
}
