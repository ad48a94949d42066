import SwiftSyntax
import SwiftSyntaxBuilder

/// What an observed model has besides: recording of reads, and waking of exactly their readers.
struct ObservedMembers {
  let model: ModelDeclaration

  private var access: String { model.access.prefix }
  private var name: String { model.name }

  var declarations: [DeclSyntax] {
    // The runtime wakes level by level, because a parent may be of another mind about observation.
    if model.isInHierarchy { return [recordAccess, invalidate] }
    return [
      recordAccess, fieldMap, makeFieldMap, swiftPaths, keyPaths, invalidateFields, invalidateAll, invalidate,
    ]
  }

  /// The key paths a field stands for: the property, and for a to-many also its count.
  func paths(of property: ModelProperty) -> [String] {
    property.isToMany && model.options.generateToManyCount
      ? [property.identifier, property.countName] : [property.identifier]
  }

  private var recordAccess: DeclSyntax {
    """
    @inline(__always)
    private nonisolated func __cdAccess<__Value>(\
    _ keyPath: @autoclosure () -> Swift.KeyPath<\(raw: name), __Value>) {
      if let registrar = _cdTrackingRegistrar() {
        registrar.access(self, keyPath: keyPath())
      }
    }
    """
  }

  private var fieldMap: DeclSyntax {
    """
    \(raw: access)nonisolated static let __cdObservationFieldMap: CDEObservationFieldMap = \
    __cdMakeObservationFieldMap()
    """
  }

  /// Statements instead of one literal, for the type checker's sake.
  private var makeFieldMap: DeclSyntax {
    let entries = model.properties.enumerated().filter { !$0.element.isTransient }.map {
      "fields[\($0.element.persistentName.quoted)] = CDEObservationFieldSet(rawValues: [\($0.offset)])"
    }
    guard !entries.isEmpty else {
      return """
        private nonisolated static func __cdMakeObservationFieldMap() -> CDEObservationFieldMap {
          CDEObservationFieldMap(fieldsByCoreDataKey: [:])
        }
        """
    }
    return """
      private nonisolated static func __cdMakeObservationFieldMap() -> CDEObservationFieldMap {
        var fields: [Swift.String: CDEObservationFieldSet] = [:]
        \(raw: entries.joined(separator: "\n  "))
        return CDEObservationFieldMap(fieldsByCoreDataKey: fields)
      }
      """
  }

  private var swiftPaths: DeclSyntax {
    collector("__cdObservationSwiftPaths", element: "Swift.String") { $0.quoted }
  }

  private var keyPaths: DeclSyntax {
    collector("__cdObservationKeyPaths", element: "Swift.PartialKeyPath<\(name)>") {
      model.deprecatedPaths.path(to: $0, from: name) ?? "\\.\($0)"
    }
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

  private var invalidateFields: DeclSyntax {
    """
    \(raw: access)nonisolated func __cdObservationInvalidate(fieldSet: CDEObservationFieldSet) {
      __cdInvalidate(fieldSet)
    }
    """
  }

  private var invalidateAll: DeclSyntax {
    """
    \(raw: access)nonisolated func __cdObservationInvalidateAllObservableKeyPaths() {
      __cdInvalidate(nil)
    }
    """
  }

  /// Wakes the readers of some fields, or of all of them for nil. One body for both, because every
  /// key path in it costs compile time.
  private var invalidate: DeclSyntax {
    let tests = model.properties.enumerated().map { ordinal, property in
      let deprecated = model.deprecatedPaths
      let wake = paths(of: property).map {
        deprecated.index(of: $0).map { "\(deprecated.type)<\(name)>.wake(\($0), of: self, by: registrar)" }
          ?? "registrar.withMutation(of: self, keyPath: \\\(name).\($0)) {}"
      }
      let field = model.isInHierarchy ? property.ordinal(in: name) : "rawValue: \(ordinal)"
      return """
        if fieldSet?.contains(\(field)) != false {
            \(wake.joined(separator: "\n    "))
          }
        """
    }
    guard !tests.isEmpty else {
      return "private nonisolated func __cdInvalidate(_ fieldSet: CDEObservationFieldSet?) {\n}"
    }
    // Without a registrar, no property was ever read under tracking.
    return """
      private nonisolated func __cdInvalidate(_ fieldSet: CDEObservationFieldSet?) {
        guard let registrar = _cdExistingRegistrar() else {
          return
        }
        \(raw: tests.joined(separator: "\n  "))
      }
      """
  }
}
