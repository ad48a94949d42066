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
    case "Bundle" where usesCoreData && node.arguments.first?.label?.text == "for",
      "Foundation.Bundle" where usesCoreData && node.arguments.first?.label?.text == "for":
      edits.insert("._cdPorted", at: node.calledExpression.contentRange.upperBound)
      needsImport = true
    case "NSClassFromString" where usesCoreData:
      edits.replace(node.calledExpression, with: "_cdClassFromString")
      needsImport = true
    case "canImport":
      guard let name = node.arguments.first?.expression.as(DeclReferenceExprSyntax.self),
        let replacement = replacement(ofModule: name.baseName.text)
      else { break }
      edits.replace(name, with: replacement)
      return .skipChildren
    case "NSManagedObject" where makesObject(node), "CoreData.NSManagedObject" where makesObject(node):
      // Core Data makes an object of the entity's class.
      edits.insert("._cdMade", at: node.calledExpression.contentRange.upperBound)
      needsImport = true
    case "NSManagedObject.init" where makesObject(node),
      "CoreData.NSManagedObject.init" where makesObject(node):
      guard let member = node.calledExpression.as(MemberAccessExprSyntax.self) else { break }
      edits.replace(member.declName.baseName, with: "_cdMade")
      needsImport = true
    default:
      if usesCoreData, let member = node.calledExpression.as(MemberAccessExprSyntax.self),
        member.declName.baseName.text == "urls",
        node.arguments.first?.label?.text == "forResourcesWithExtension"
      {
        edits.replace(member.declName.baseName, with: "_cdURLs")
        needsImport = true
      }
    }
    return .visitChildren
  }

  private func makesObject(_ node: FunctionCallExprSyntax) -> Bool {
    usesCoreData && node.arguments.map { $0.label?.text } == ["entity", "insertInto"]
  }

  /// A number of the file's content, for a name that no other file of the target declares.
  private var fileNumber: String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return String(hash, radix: 16)
  }

  /// Types of this package and the modules that declare them.
  static let declaringModules = [
    "CDEPredicates.TreeExpression", "CDEPredicates.TreeComparisonPredicate",
    "CDEPredicates.TreeCompoundPredicate",
    "CDEModelRuntime.NSManagedObject", "CDEModelRuntime.NSManagedObjectContext",
    "CDEManagedModel.NSEntityDescription", "CDEModelFiles.NSMappingModel",
  ]

  /// Imports the types of this package from the modules that declare them: code that clients compile may use only what its file
  /// imports from there, and so may all code if members need the import of their own module.
  func importDeclaringModules(_ node: ImportDeclSyntax) {
    let access = node.modifiers.trimmedDescription
    var imports = Self.declaringModules.map { "; \(access.isEmpty ? "" : access + " ")import class \($0)" }
    if ["public", "package"].contains(access) {
      // The compiler warns of such an import if no declaration of the file needs it. One does.
      let types = ["CDECoreData._CDLazyValue<Int>"] + Self.declaringModules
      imports.append("; \(access) typealias _CDImports_\(fileNumber) = (\(types.joined(separator: ", ")))")
    }
    edits.insert(imports.joined(), at: node.contentRange.upperBound)
  }

  func rewriteMainBundle(_ node: MemberAccessExprSyntax) {
    guard usesCoreData, node.declName.baseName.text == "main",
      node.base == nil ? isBundle(around: node) : bundleNames.contains(node.base?.trimmedDescription ?? "")
    else { return }
    if let member = node.parent?.as(MemberAccessExprSyntax.self),
      Self.programMembers.contains(member.declName.baseName.text)
    {
      return
    }
    edits.replace(node.declName, with: "_cdMain()")
    needsImport = true
  }

  private var bundleNames: Set<String> { ["Bundle", "Foundation.Bundle"] }

  /// Whether `.main` without a type must be the main bundle, as far as its surroundings say it.
  private func isBundle(around node: MemberAccessExprSyntax) -> Bool {
    guard let parent = node.parent else { return false }
    if let argument = parent.as(LabeledExprSyntax.self) { return isBundleLabel(argument.label) }
    if let list = parent.as(ArrayElementSyntax.self)?.parent?.parent {
      // `[.main]` as the argument of a model or a mapping model.
      guard let argument = list.parent?.as(LabeledExprSyntax.self) else {
        return list.parent.map(hasBundleType) ?? false
      }
      return isBundleLabel(argument.label) || argument.label?.text == "from"
    }
    if let sequence = parent.as(ExprListSyntax.self) { return isBundle(in: Array(sequence), node) }
    return hasBundleType(parent)
  }

  private func isBundleLabel(_ label: TokenSyntax?) -> Bool {
    guard let name = label?.text.lowercased() else { return false }
    return name.hasSuffix("bundle") || name.hasSuffix("bundles")
  }

  /// `bundle ?? .main` and `bundle = .main`, where the other operand is named as a bundle.
  private func isBundle(in operands: [ExprSyntax], _ node: MemberAccessExprSyntax) -> Bool {
    guard let place = operands.firstIndex(where: { $0.id == node.id }), place > 1 else { return false }
    return operands[place - 2].trimmedDescription.lowercased().contains("bundle")
  }

  /// Whether a value has the type `Bundle` because a declaration around it says so.
  private func hasBundleType(_ place: Syntax) -> Bool {
    var next: Syntax? = place
    while let node = next {
      let type: TypeSyntax? =
        if let parameter = node.as(FunctionParameterSyntax.self) {
          parameter.type
        } else if let binding = node.as(PatternBindingSyntax.self) {
          binding.typeAnnotation?.type
        } else if let function = node.as(FunctionDeclSyntax.self) {
          function.signature.returnClause?.type
        } else { nil }
      if let type {
        return bundleNames.contains(type.trimmedDescription.filter { !"?![] ".contains($0) })
      }
      let isBetween =
        node.is(InitializerClauseSyntax.self) || node.is(ReturnStmtSyntax.self)
        || node.is(CodeBlockItemSyntax.self) || node.is(CodeBlockItemListSyntax.self)
        || node.is(CodeBlockSyntax.self) || node.is(AccessorBlockSyntax.self)
        || node.is(AccessorDeclSyntax.self) || node.is(AccessorDeclListSyntax.self)
      guard isBetween else { return false }
      next = node.parent
    }
    return false
  }

  /// Whether `Foundation.` in front of a name has to become `CDECoreData.`.
  func isOwnName(_ name: String) -> Bool { usesCoreData && FoundationNames.all.contains(name) }

  /// Names of CoreData, and those that Foundation has, too.
  func rewriteName(_ node: DeclReferenceExprSyntax) {
    let name = node.baseName.text
    if usesCoreData, name == "_kvcKeyPathString" {
      edits.replace(node.baseName, with: "_cdKeyPathString")
      needsImport = true
      return
    }
    let parent = node.parent?.as(MemberAccessExprSyntax.self)
    if usesCoreData, parent?.declName.id != node.id, CoreDataNames.belong(name) { needsImport = true }
    if name == "Foundation", let parent, parent.base?.id == node.id, isOwnName(parent.declName.baseName.text)
    {
      edits.replace(node.baseName, with: "CDECoreData")
      needsImport = true
      return
    }
    if parent?.base?.id == node.id, let replacement = replacement(ofModule: name) {
      edits.replace(node.baseName, with: replacement)
    } else if usesCoreData, QualifiedNames.all.contains(name), parent?.declName.id != node.id {
      edits.insert("CDECoreData.", at: node.contentRange.lowerBound)
      needsImport = true
    }
  }
}
