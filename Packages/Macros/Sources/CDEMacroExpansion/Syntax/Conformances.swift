import SwiftSyntax
import SwiftSyntaxBuilder

/// Writes the conformances that a type does not declare by itself.
struct Conformances {
  /// The protocols the compiler asks for, by their short names.
  private let missing: Set<String>

  init(missing: [TypeSyntax]) {
    self.missing = Set(
      missing.map { String($0.trimmedDescription.split(separator: ".").last ?? "") })
  }

  /// One extension per protocol: a mistake then names the one it belongs to.
  ///
  /// In modules with another default isolation a conformance would be isolated although the type is not;
  /// `nonisolated` says that it never is.
  func extensions(
    of type: some TypeSyntaxProtocol, _ protocols: [String], isNonisolated: Bool = true
  ) throws -> [ExtensionDeclSyntax] {
    try protocols.filter { missing.contains($0) || missing.contains(Self.resolved($0)) }.map {
      try ExtensionDeclSyntax(
        "extension \(type.trimmed): \(raw: isNonisolated ? "nonisolated " : "")\(raw: $0) {}")
    }
  }

  /// The compiler names the protocol behind a type alias.
  private static func resolved(_ name: String) -> String {
    name == "CDEObservable" ? "Observable" : name
  }
}
