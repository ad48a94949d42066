import SwiftSyntax

/// The access of generated members.
struct AccessLevel {
  private enum Rank: Int {
    case `private`, `fileprivate`, `internal`, package, `public`
  }

  private let rank: Rank

  /// Members have the access of their type, with two exceptions. Members of private types are `fileprivate`,
  /// because the conformance extension stands at file scope and must see them. Members of `open` types are
  /// `public`, because an expansion should not be overridden.
  init(of declaration: some DeclGroupSyntax) {
    let written = AccessLevel.written(in: declaration.modifiers) ?? .internal
    rank = written == .private ? .fileprivate : written
  }

  private init(rank: Rank) { self.rank = rank }

  /// The access of what belongs to one property: its type may be visible no further than the property.
  func limited(to variable: VariableDeclSyntax) -> AccessLevel {
    // A member of a private type is as visible as the type when nothing is written.
    let written = AccessLevel.written(in: variable.modifiers) ?? .internal
    return AccessLevel(rank: written.rawValue < rank.rawValue ? written : rank)
  }

  /// The modifier with a space behind it, or nothing.
  var prefix: String {
    switch rank {
    case .private: "private "
    case .fileprivate: "fileprivate "
    case .internal: ""
    case .package: "package "
    case .public: "public "
    }
  }

  private static func written(in modifiers: DeclModifierListSyntax) -> Rank? {
    // `private(set)` limits the setter only.
    for modifier in modifiers where modifier.detail == nil {
      switch modifier.name.tokenKind {
      case .keyword(.open), .keyword(.public): return .public
      case .keyword(.package): return .package
      case .keyword(.internal): return .internal
      case .keyword(.fileprivate): return .fileprivate
      case .keyword(.private): return .private
      default: continue
      }
    }
    return nil
  }
}

extension DeclModifierListSyntax {
  func contains(_ keyword: Keyword) -> Bool {
    contains { $0.name.tokenKind == .keyword(keyword) }
  }
}
