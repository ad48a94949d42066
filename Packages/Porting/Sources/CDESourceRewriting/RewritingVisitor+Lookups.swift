internal import SwiftSyntax

// Look-ups that find nothing on Linux are sent to functions that know the target's resources and classes.
extension RewritingVisitor {
  /// Members of the main bundle that mean the program, not its resources.
  private static let programMembers: Set<String> = [
    "bundleIdentifier", "infoDictionary", "localizedInfoDictionary", "object", "bundlePath", "bundleURL",
    "executableURL", "executablePath", "appStoreReceiptURL", "preferredLocalizations", "localizations",
  ]

  func rewriteLookup(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    switch node.calledExpression.trimmedDescription {
    case "Bundle" where node.arguments.first?.label?.text == "for",
      "Foundation.Bundle" where node.arguments.first?.label?.text == "for":
      edits.insert("._cdPorted", at: node.calledExpression.contentRange.upperBound)
      needsImport = true
    case "NSClassFromString":
      edits.replace(node.calledExpression, with: "_cdClassFromString")
      needsImport = true
    case "canImport":
      guard let name = node.arguments.first?.expression.as(DeclReferenceExprSyntax.self),
        name.baseName.text == "CoreData"
      else { break }
      edits.replace(name, with: "CDECoreData")
      return .skipChildren
    default:
      if let member = node.calledExpression.as(MemberAccessExprSyntax.self),
        member.declName.baseName.text == "urls",
        node.arguments.first?.label?.text == "forResourcesWithExtension"
      {
        edits.replace(member.declName.baseName, with: "_cdURLs")
        needsImport = true
      }
    }
    return .visitChildren
  }

  func rewriteMainBundle(_ node: MemberAccessExprSyntax) {
    guard node.declName.baseName.text == "main", node.base?.trimmedDescription == "Bundle" else { return }
    if let member = node.parent?.as(MemberAccessExprSyntax.self),
      Self.programMembers.contains(member.declName.baseName.text)
    {
      return
    }
    edits.replace(node.declName, with: "_cdMain()")
    needsImport = true
  }

  /// Names of CoreData, and those that Foundation has, too.
  func rewriteName(_ node: DeclReferenceExprSyntax) {
    let name = node.baseName.text
    let parent = node.parent?.as(MemberAccessExprSyntax.self)
    if name == "CoreData", parent?.base?.id == node.id {
      edits.replace(node.baseName, with: "CDECoreData")
    } else if QualifiedNames.all.contains(name), parent?.declName.id != node.id {
      edits.insert("CDECoreData.", at: node.contentRange.lowerBound)
      needsImport = true
    }
  }
}
