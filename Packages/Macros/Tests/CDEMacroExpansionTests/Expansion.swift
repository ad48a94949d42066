import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import Testing

@testable import CDEMacroExpansion

/// Source before and after expansion, with what the macros had to say about it.
struct Expansion {
  struct Message {
    let text: String
    let severity: DiagnosticSeverity
    /// The source text of the node that the message points at.
    let node: String
    /// Nil when the node has no place in the source; the compiler could not show it.
    let line: Int?
    /// What each fix-it is called, and the whole source after applying it.
    let fixIts: [(name: String, source: String)]
  }

  let text: String
  let messages: [Message]

  var errors: [String] { messages.filter { $0.severity == .error }.map(\.text) }

  /// The error that a test expects as the one message, at the node of this source text.
  ///
  /// - Throws: when there is no message. Another one, another node or a warning fails the test and goes on.
  func onlyError(
    at node: String, sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) throws -> Message {
    let message = try #require(messages.first, sourceLocation: sourceLocation)
    #expect(
      messages.count == 1 && message.node == node && message.severity == .error,
      "\(messages.map { ($0.node, $0.text) })", sourceLocation: sourceLocation)
    return message
  }

  init(_ source: String, macros: [String: MacroSpec] = Expansion.macros) {
    let file = Parser.parse(source: source)
    let root = BasicMacroExpansionContext(
      sourceFiles: [file: .init(moduleName: "Tests", fullFilePath: "/Tests/Model.swift")])
    let expanded = file.expand(
      macroSpecs: macros,
      contextGenerator: {
        BasicMacroExpansionContext(sharingWith: root, lexicalContext: $0.allMacroLexicalContexts())
      }, indentationWidth: .spaces(2))
    text = expanded.description
    messages = root.diagnostics.map { diagnostic in
      Message(
        text: diagnostic.message, severity: diagnostic.diagMessage.severity,
        node: diagnostic.node.trimmedDescription,
        line: root.location(of: diagnostic.node, at: .afterLeadingTrivia, filePathMode: .filePath)
          .flatMap { Int($0.line.trimmedDescription) },
        fixIts: diagnostic.fixIts.map {
          ($0.message.message, Expansion.apply($0, to: source, in: root))
        })
    }
  }

  /// The lines of the expansion without indentation and blank lines.
  var lines: [String] { Expansion.lines(of: text) }

  /// Whether the lines of `part` stand in the expansion one after the other, whatever their indentation.
  func contains(_ part: String) -> Bool {
    let wanted = Expansion.lines(of: part)
    let all = lines
    guard !wanted.isEmpty, all.count >= wanted.count else { return false }
    return (0...(all.count - wanted.count)).contains { Array(all[$0..<($0 + wanted.count)]) == wanted }
  }

  private static func lines(of text: String) -> [String] {
    text.split(separator: "\n").map { line in
      String(line.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }.filter { !$0.isEmpty }
  }

  private static func apply(
    _ fixIt: FixIt, to source: String, in context: BasicMacroExpansionContext
  ) -> String {
    var bytes = Array(source.utf8)
    let edits = fixIt.changes.compactMap { change -> (Range<Int>, String)? in
      guard case .replaceText(let range, let text, let node) = change else { return nil }
      let offsets = [range.lowerBound, range.upperBound].map {
        context.location(for: $0, anchoredAt: node, fileName: "Model.swift").offset
      }
      return (offsets[0]..<offsets[1], text)
    }
    for (range, text) in edits.sorted(by: { $0.0.lowerBound > $1.0.lowerBound }) {
      bytes.replaceSubrange(range, with: Array(text.utf8))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let macros: [String: MacroSpec] = [
    "NSModelActor": MacroSpec(
      type: NSModelActorMacro.self, conformances: ["NSModelActor", "_NSModelActorInitializable"]),
    "NSMainModelActor": MacroSpec(
      type: NSMainModelActorMacro.self, conformances: ["NSMainModelActor"]),
    "PersistentModel": MacroSpec(
      type: PersistentModelMacro.self,
      conformances: [
        "PersistentEntity", "CDRuntimeSchemaProviding", "Observation.Observable",
        "CDEObservationFieldMapProviding", "CDEObservationInvalidationDispatching",
      ]),
    "Attribute": MacroSpec(type: AttributeMacro.self),
    "Ignore": MacroSpec(type: IgnoreMacro.self),
    "Relationship": MacroSpec(type: RelationshipMacro.self),
    "Composition": MacroSpec(
      type: CompositionMacro.self,
      conformances: [
        "CDCompositionValueCodable", "CoreDataPathDSLProviding", "CDRuntimeCompositionSchemaProviding",
      ]),
    "CompositionField": MacroSpec(type: CompositionFieldMacro.self),
    "_CDAttribute": MacroSpec(type: DefaultAttributeMacro.self),
    "_CDRelationship": MacroSpec(type: RelationshipAccessorsMacro.self),
  ]

  /// The expansion of a class of the SwiftData layer, whose macros share names with those of the runtime.
  static func swiftData(_ source: String, inherits: Bool = false) -> Expansion {
    Expansion(
      source,
      macros: [
        "Model": MacroSpec(
          type: SwiftDataModelMacro.self, conformances: inherits ? [] : ["Observable", "PersistentModel"]),
        "Attribute": MacroSpec(type: SwiftDataPropertyMarkerMacro.self),
        "Relationship": MacroSpec(type: SwiftDataPropertyMarkerMacro.self),
        "Transient": MacroSpec(type: TransientMacro.self),
        "_PersistedProperty": MacroSpec(type: PersistedPropertyMacro.self),
        "ModelActor": MacroSpec(type: SwiftDataActorMacro.self, conformances: ["ModelActor"]),
        "Unique": MacroSpec(type: SwiftDataConstraintMacro.self),
        "Index": MacroSpec(type: SwiftDataConstraintMacro.self),
      ])
  }

  /// The expansion of a model class with these members.
  static func model(_ members: String, arguments: String = "") -> Expansion {
    Expansion(
      """
      @PersistentModel\(arguments)
      final class Item: NSManagedObject {
      \(members.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))
      }
      """)
  }
}
