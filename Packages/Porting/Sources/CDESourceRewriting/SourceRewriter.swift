internal import SwiftSyntax
internal import SwiftIfConfig
internal import SwiftParser

/// Turns a source written for Core Data on Apple's platforms into one that compiles on Linux.
///
/// Only what the Linux compiler refuses is changed. Each line stays on its line.
public struct SourceRewriter: Sendable {
  /// What became of a file.
  public struct Result: Sendable {
    /// The bytes to compile.
    public var bytes: [UInt8]
    /// What the rewriter has to say about the file, in the order of lines.
    public var messages: [SourceMessage]
  }

  /// A parsed file.
  public struct Parsed {
    let bytes: [UInt8]
    let tree: SourceFileSyntax
    /// What other files need to know about this one.
    public let facts: FileFacts

    /// Parses a file.
    public init(_ bytes: [UInt8]) {
      self.bytes = bytes
      tree = bytes.withUnsafeBufferPointer { Parser.parse(source: $0) }
      facts = FactCollector(tree).facts
    }
  }

  private let index: SourceIndex

  /// A rewriter for the files of one target.
  ///
  /// - Parameter index: what is known about all files of the target.
  public init(index: SourceIndex) { self.index = index }

  /// Whether a file needs rewriting. Other files compile as they are.
  ///
  /// - Parameters:
  ///   - bytes: the file.
  ///   - index: what is known about the target's files, if it is known.
  ///   - replaced: modules in whose place the target names another.
  public static func isAffected(
    _ bytes: [UInt8], by index: SourceIndex? = nil, replaced: Set<String> = []
  ) -> Bool {
    SourceNeedles.areFound(in: bytes, optionalMembers: index?.optionalMembers ?? [], replaced: replaced)
  }

  /// Rewrites a parsed file.
  public func rewrite(_ file: Parsed) -> Result {
    let visitor = RewritingVisitor(file, index)
    visitor.walk(file.tree)
    visitor.finish()
    return Result(
      bytes: visitor.edits.isEmpty ? file.bytes : visitor.edits.applied(to: file.bytes),
      messages: visitor.messages.sorted { ($0.line, $0.column) < ($1.line, $1.column) })
  }

  /// Parses and rewrites a file.
  public func rewrite(_ bytes: [UInt8]) -> Result { rewrite(Parsed(bytes)) }
}

/// Walks a file and collects its edits. The extensions handle one construct each.
final class RewritingVisitor: ScopedVisitor {
  let bytes: [UInt8]
  let index: SourceIndex
  var edits = SourceEdits()
  var messages: [SourceMessage] = []
  private let tree: SourceFileSyntax
  private lazy var converter = SourceLocationConverter(fileName: "", tree: tree)
  private lazy var regions = tree.configuredRegions(
    in: LinuxConfiguration(modules: index.modules, replaced: Set(index.replacements.keys)))
  /// Whether an edit uses a name of CDECoreData in a file that may not import it.
  var needsImport = false
  private var importsCoreData = false
  private var firstImport: ImportDeclSyntax?
  private var coreDataImport: ImportDeclSyntax?
  /// Whether clients compile some functions of the file, which then has to import the modules that declare what they use.
  private(set) var hasInlinableCode = false
  /// Lazy variables that may not stay lazy, and whether that is certain.
  var lazyVariables: [SyntaxIdentifier: Bool] = [:]

  init(_ file: SourceRewriter.Parsed, _ index: SourceIndex) {
    bytes = file.bytes
    tree = file.tree
    self.index = index
    super.init(viewMode: .sourceAccurate)
  }

  func report(_ severity: SourceMessage.Severity, at node: some SyntaxProtocol, _ text: String) {
    let place = converter.location(for: node.positionAfterSkippingLeadingTrivia)
    messages.append(
      SourceMessage(line: place.line, column: place.column, severity: severity, text: text))
  }

  func isActive(_ node: some SyntaxProtocol) -> Bool { regions.isActive(node) == .active }

  /// Whether edits may use what CDECoreData offers: it is a dependency of the target.
  var usesCoreData: Bool { index.modules.contains("CDECoreData") }

  /// The replacement of a module's name, if the target depends on it.
  func replacement(ofModule name: String) -> String? {
    if let replacement = index.replacements[name]?.first { return replacement }
    guard ImportedModules.named.contains(name), let replacement = ImportedModules.replaced[name],
      index.modules.contains(replacement)
    else { return nil }
    return replacement
  }

  func finish() {
    if hasInlinableCode || index.importsMembers, let coreDataImport { importDeclaringModules(coreDataImport) }
    guard needsImport, !importsCoreData else { return }
    let imports =
      (["CDECoreData"] + (index.importsMembers ? Self.declaringModules.map { "class \($0)" } : []))
      .map { "import \($0)" }.joined(separator: "; ")
    if let firstImport {
      edits.insert("; \(imports)", at: firstImport.contentRange.upperBound)
    } else {
      edits.insert("\(imports); ", at: tree.statements.first?.contentRange.lowerBound ?? 0)
    }
  }

  // MARK: Imports

  override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
    guard let first = node.path.first else { return .skipChildren }
    let name = first.name.text
    let active = isActive(node)
    if let replacements = index.replacements[name], let replacement = replacements.first {
      edits.replace(first.name, with: replacement)
      let access = node.modifiers.trimmedDescription
      let others = replacements.dropFirst().map { "; \(access.isEmpty ? "" : access + " ")import \($0)" }
      edits.insert(others.joined(), at: node.contentRange.upperBound)
    } else if let replacement = ImportedModules.replaced[name] {
      if !index.modules.contains(replacement) {
        if active {
          report(
            .error, at: node,
            "There is no \(name) on Linux. \(ImportedModules.advice(name, replacement))")
        }
      } else if ImportedModules.named.contains(name) {
        edits.replace(first.name, with: replacement)
        if active, name == "CoreData" {
          importsCoreData = true
          if coreDataImport == nil { coreDataImport = node }
        }
      } else {
        // `import os.log` names a submodule, which the replacement does not have.
        edits.replace(node.path, with: replacement)
      }
    } else if active, name == "XCTest", index.modules.contains("CDEXCTestPorting") {
      edits.insert("; import CDEXCTestPorting", at: node.contentRange.upperBound)
    } else if active, let advice = ImportedModules.absent[name] {
      report(.error, at: node, "There is no \(name) on Linux. \(advice)")
    }
    if active, firstImport == nil, !node.attributes.contains(where: { _ in true }) { firstImport = node }
    return .skipChildren
  }

  override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    rewriteOptionalCall(node)
    if usesCoreData {
      rewriteObserving(node)
      rewriteNamedArguments(node)
    }
    return rewriteLookup(node)
  }

  override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
    rewriteName(node)
    return .visitChildren
  }

  override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
    rewriteMainBundle(node)
    if usesCoreData { renameOverriddenFetch(node) }
    if usesCoreData, node.declName.baseName.text == "predicateFormat", node.base != nil {
      // Foundation's own does not print compounds.
      edits.replace(node.declName, with: "_cdPredicateFormat")
    }
    return .visitChildren
  }

  override func visit(_ node: MemberTypeSyntax) -> SyntaxVisitorContinueKind {
    if let base = node.baseType.as(IdentifierTypeSyntax.self), base.name.text == "Foundation",
      isOwnName(node.name.text)
    {
      edits.replace(base.name, with: "CDECoreData")
      needsImport = true
    }
    return .visitChildren
  }

  override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
    if usesCoreData, CoreDataNames.belong(node.name.text) { needsImport = true }
    if usesCoreData, QualifiedNames.all.contains(node.name.text) {
      edits.insert("CDECoreData.", at: node.name.contentRange.lowerBound)
      needsImport = true
    } else if let replacement = replacement(ofModule: node.name.text) {
      edits.replace(node.name, with: replacement)
    }
    return .visitChildren
  }

  // MARK: Attributes

  override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind {
    let name = node.attributeName.trimmedDescription
    if name == "inlinable" { hasInlinableCode = true }
    if ObjectiveCAttributes.all.contains(name) {
      edits.remove(node, in: bytes)
      return .skipChildren
    }
    return .visitChildren
  }

  // MARK: Declarations

  override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
    rewriteManagedProperty(node) ? .skipChildren : .visitChildren
  }
  override func visitPost(_ node: VariableDeclSyntax) { rewriteLazyVariable(node) }

  override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
    rewriteManagedFunction(node)
    if usesCoreData { renameOverriddenFetch(node) }
    if isActive(node) { rewritePreparation(node) }
    return .visitChildren
  }

  override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
    rewriteProtocol(node)
    scope.enter(node.name.text)
    return .visitChildren
  }
  override func visitPost(_ node: ProtocolDeclSyntax) { scope.leave() }

  override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
    scope.enter(node.name.text)
    describeClass(node)
    return .visitChildren
  }

  override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
    scope.enter(node.extendedType.trimmedDescription)
    rewriteExtension(node)
    return .visitChildren
  }

  // MARK: Expressions

  override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
    switch node.macroName.text {
    case "keyPath": rewriteKeyPath(node)
    case "selector" where usesCoreData: rewriteSelector(node)
    default: return .visitChildren
    }
    return .skipChildren
  }

  override func visit(_ node: KeyPathExprSyntax) -> SyntaxVisitorContinueKind {
    if usesCoreData { rewriteComparedPath(node) }
    return .visitChildren
  }

  override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
    if usesCoreData { rewriteCasts(node) }
    return .visitChildren
  }
}

/// Attributes that only the Objective-C runtime gives a meaning.
enum ObjectiveCAttributes {
  static let all: Set<String> = [
    "objc", "objcMembers", "NSManaged", "IBOutlet", "IBInspectable", "IBDesignable", "IBSegueAction",
    "NSCopying",
    "GKInspectable",
  ]
}

/// Names that both Foundation and CDECoreData declare.
enum QualifiedNames {
  static let all: Set<String> = ["NSExpression", "NSComparisonPredicate", "NSCompoundPredicate"]
}

/// Names that Foundation has on Apple's platforms, and CDECoreData here.
enum FoundationNames {
  static let all = QualifiedNames.all.union(["ValueTransformer", "NSValueTransformerName", "UndoManager"])
}

/// The names of Core Data's types, which a file may use without importing Core Data if it imports a module that does.
enum CoreDataNames {
  private static let names: Set<String> = [
    "NSManagedObject", "NSManagedObjectID", "NSManagedObjectContext", "NSManagedObjectModel",
    "NSPersistentContainer",
    "NSPersistentStoreCoordinator", "NSPersistentStore", "NSPersistentStoreDescription", "NSFetchRequest",
    "NSEntityDescription",
    "NSAttributeDescription", "NSRelationshipDescription", "NSFetchedResultsController", "NSMergePolicy",
    "NSPersistentHistoryToken", "NSPersistentHistoryTransaction", "NSPersistentHistoryChange",
    "NSPersistentHistoryChangeRequest",
    "NSBatchDeleteRequest", "NSBatchUpdateRequest", "NSBatchInsertRequest", "NSPersistentCloudKitContainer",
  ]

  static func belong(_ name: String) -> Bool { names.contains(name) }
}
