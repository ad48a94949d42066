import CDESourceFacts
import Foundation
import SwiftDiagnostics
import SwiftParser
import SwiftParserDiagnostics
import SwiftSyntax

/// Reads one file.
struct FactReader {
  static func facts(at path: String) -> SourceFacts.File {
    let start = SourceFacts.Place(start: 0, end: 0, line: 1, column: 1)
    func failed(_ message: String) -> SourceFacts.File {
      SourceFacts.File(path: path, problems: [.init(message: message, place: start)])
    }
    let data: Data
    do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
      return failed("The file can't be read: \(error.localizedDescription)")
    }
    // A repaired text would have other offsets than the file.
    guard let text = String(validating: data, as: UTF8.self) else { return failed("The file is no UTF-8.") }
    let tree = Parser.parse(source: text)
    let converter = SourceLocationConverter(fileName: path, tree: tree)
    // The search for errors takes as long as the parser.
    let diagnostics = tree.hasError ? ParseDiagnosticsGenerator.diagnostics(for: tree) : []
    let problems =
      diagnostics
      .filter { $0.diagMessage.severity == .error }.map { problem in
        let place = converter.location(for: problem.position)
        return SourceFacts.Problem(
          message: problem.message,
          place: .init(
            start: place.offset, end: place.offset, line: place.line, column: place.column))
      }
    let collector = DeclarationCollector(Placing(converter: converter))
    collector.walk(tree)
    return SourceFacts.File(path: path, problems: problems, types: collector.types)
  }
}

/// Places of nodes, without the spaces and comments around them.
struct Placing {
  let converter: SourceLocationConverter

  func place(of node: some SyntaxProtocol) -> SourceFacts.Place {
    place(node.positionAfterSkippingLeadingTrivia, node.endPositionBeforeTrailingTrivia)
  }

  func place(_ start: AbsolutePosition, _ end: AbsolutePosition) -> SourceFacts.Place {
    let location = converter.location(for: start)
    return .init(start: start.utf8Offset, end: end.utf8Offset, line: location.line, column: location.column)
  }

  func text(of node: some SyntaxProtocol) -> SourceFacts.Text {
    .init(text: node.trimmedDescription, place: place(of: node))
  }

  func text(of expression: ExprSyntax) -> SourceFacts.Text {
    let literal = expression.as(StringLiteralExprSyntax.self)
    return .init(
      text: expression.trimmedDescription, string: literal?.representedLiteralValue,
      place: place(of: expression))
  }
}
