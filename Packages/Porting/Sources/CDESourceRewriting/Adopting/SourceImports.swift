internal import SwiftIfConfig
internal import SwiftParser
internal import SwiftSyntax

/// What a source says about itself to an adoption: the modules that it imports on Linux, and what it declares.
struct SourceImports {
  private(set) var modules: [(name: String, line: Int)] = []
  /// The names of types, functions and variables outside of types.
  private(set) var declarations: Set<String> = []
  private(set) var usesBundleModule = false

  /// Reads a source.
  init(_ bytes: [UInt8], modules known: Set<String>) {
    let tree = bytes.withUnsafeBufferPointer { Parser.parse(source: $0) }
    let visitor = ImportVisitor(tree, LinuxConfiguration(modules: known))
    visitor.walk(tree)
    modules = visitor.modules
    declarations = visitor.declarations
    usesBundleModule = visitor.usesBundleModule
  }
}

private final class ImportVisitor: SyntaxVisitor {
  var modules: [(name: String, line: Int)] = []
  var declarations: Set<String> = []
  var usesBundleModule = false
  private let regions: ConfiguredRegions
  private let converter: SourceLocationConverter

  init(_ tree: SourceFileSyntax, _ configuration: LinuxConfiguration) {
    regions = tree.configuredRegions(in: configuration)
    converter = SourceLocationConverter(fileName: "", tree: tree)
    super.init(viewMode: .sourceAccurate)
  }

  override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
    if regions.isActive(node) == .active, let name = node.path.first?.name.text {
      modules.append((name, converter.location(for: node.positionAfterSkippingLeadingTrivia).line))
    }
    return .skipChildren
  }

  override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
    if node.declName.baseName.text == "module",
      node.base == nil || node.base?.trimmedDescription.hasSuffix("Bundle") == true
    {
      usesBundleModule = true
    }
    return .visitChildren
  }

  override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
    if let declaration = node.item.as(DeclSyntax.self) {
      if let named = declaration.asProtocol((any NamedDeclSyntax).self) {
        declarations.insert(named.name.text)
      } else if let variable = declaration.as(VariableDeclSyntax.self) {
        for binding in variable.bindings { declarations.insert(binding.pattern.trimmedDescription) }
      }
    }
    return .visitChildren
  }
}
