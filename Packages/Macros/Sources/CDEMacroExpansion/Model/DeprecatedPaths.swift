import SwiftSyntax
import SwiftSyntaxBuilder

/// The key paths of the properties that are marked as deprecated.
///
/// A warning in an expansion can't be removed, so these key paths stand in a deprecated member, which the rest of the expansion reaches
/// as the witness of a protocol: there the compiler does not warn.
struct DeprecatedPaths {
  /// The generated type that has the key paths.
  let type: String
  /// The properties' names as code spells them, backticks included.
  private let identifiers: [String]

  init(type: String, of properties: [(identifier: String, variable: VariableDeclSyntax)]) {
    self.type = type
    identifiers = properties.filter(\.variable.isDeprecated).map(\.identifier)
  }

  /// The expression of a property's key path; nil for a property that is not deprecated.
  func path(to identifier: String, from root: String) -> String? {
    index(of: identifier).map { "\(type)<\(root)>.path(\($0))" }
  }

  func index(of identifier: String) -> Int? { identifiers.firstIndex(of: identifier) }

  /// The type; none when no property is deprecated.
  ///
  /// - Parameters:
  ///   - owner: the model's class.
  ///   - conformance: the protocol that the type conforms to.
  ///   - element: the type of a key path, from `__CDRoot`.
  func declarations(owner: String, conformance: String, element: String) -> [DeclSyntax] {
    guard !identifiers.isEmpty else { return [] }
    let paths = identifiers.map { "\\__CDRoot.\($0)" }.joined(separator: ", ")
    return [
      """
      private nonisolated enum \(raw: type)<__CDRoot: \(raw: owner)>: \(raw: conformance) {
        @available(*, deprecated)
        static var paths: [\(raw: element)] {
          [\(raw: paths)]
        }
      }
      """
    ]
  }
}

extension VariableDeclSyntax {
  /// Whether an `@available` says that the declaration is deprecated on the platform, or on all of them.
  fileprivate var isDeprecated: Bool {
    attributes.contains { element in
      guard case .attribute(let attribute) = element, attribute.shortName == "available",
        case .availability(let arguments)? = attribute.arguments
      else { return false }
      return arguments.contains { argument in
        switch argument.argument {
        case .token(let token): token.text == "deprecated"
        case .availabilityLabeledArgument(let labeled): labeled.label.text == "deprecated"
        default: false
        }
      }
    }
  }
}
