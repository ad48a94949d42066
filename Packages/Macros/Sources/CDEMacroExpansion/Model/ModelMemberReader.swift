import SwiftDiagnostics
import SwiftSyntax

/// Collects the stored members of a model class in declaration order.
struct ModelMemberReader {
  let isObserved: Bool
  var members: [ModelDeclaration.Member] = []
  var diagnostics: [Diagnostic] = []

  init(isObserved: Bool) { self.isObserved = isObserved }

  mutating func read(_ list: MemberBlockItemListSyntax) {
    for item in list {
      if let block = item.decl.as(IfConfigDeclSyntax.self) {
        readConditional(block)
      } else if let variable = item.decl.as(VariableDeclSyntax.self) {
        read(variable)
      }
    }
  }

  private mutating func read(_ variable: VariableDeclSyntax) {
    let reader = PropertyReader(variable)
    diagnostics += reader.diagnostics
    switch reader.result {
    case .persisted(let property): members.append(.persisted(property))
    case .ignored(let property): members.append(.ignored(property))
    case .managed(let attribute): diagnostics += managed(attribute, variable)
    case .leftAlone, .invalid: break
    }
  }

  private func managed(_ attribute: AttributeSyntax, _ variable: VariableDeclSyntax) -> [Diagnostic] {
    let name = variable.bindings.first?.pattern.trimmedDescription ?? ""
    let unobserved = "@NSManaged property `\(name)` will not participate in Observation"
    #if canImport(ObjectiveC)
      guard isObserved else { return [] }
      return [
        .make(
          "managed", .warning, at: attribute, "\(unobserved); remove @NSManaged.",
          fixIts: [.removing("Remove @NSManaged", attribute)])
      ]
    #else
      let unlinkable = "has no accessors on this platform, so the program would not link"
      let message =
        isObserved ? "\(unobserved), and \(unlinkable)" : "@NSManaged property `\(name)` \(unlinkable)"
      return [
        .make(
          "managed", at: attribute,
          "\(message); remove @NSManaged and let @PersistentModel generate the accessors.",
          fixIts: [.removing("Remove @NSManaged", attribute)])
      ]
    #endif
  }

  /// Schema and ordinals are built from source text, before conditions are known; a property that is
  /// there in one configuration only would silently not be stored.
  private mutating func readConditional(_ block: IfConfigDeclSyntax) {
    for clause in block.clauses {
      guard case .decls(let list)? = clause.elements else { continue }
      for item in list {
        if let nested = item.decl.as(IfConfigDeclSyntax.self) {
          readConditional(nested)
          continue
        }
        guard let variable = item.decl.as(VariableDeclSyntax.self) else { continue }
        switch PropertyReader(variable).result {
        case .persisted, .invalid:
          diagnostics.append(
            .make(
              "conditionalProperty", at: variable,
              "A persisted property cannot stand inside `#if`, because the model must be the same in "
                + "every build; move it out, or mark it with @Ignore.",
              fixIts: [PropertyReader.ignoring(variable)]))
        case .leftAlone, .managed, .ignored: break
        }
      }
    }
  }
}
