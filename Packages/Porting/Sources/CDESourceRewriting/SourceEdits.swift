internal import SwiftSyntax

/// Replacements in one file, in offsets of its UTF-8 bytes.
///
/// Every edit keeps the number of lines, so that line numbers of the result are those of the original.
struct SourceEdits {
  private struct Edit {
    let range: Range<Int>
    let text: String
    /// Insertions at one offset stay in the order in which they were made.
    let order: Int
  }

  private var edits: [Edit] = []

  var isEmpty: Bool { edits.isEmpty }

  mutating func replace(_ range: Range<Int>, with text: String) {
    edits.append(Edit(range: range, text: text, order: edits.count))
  }

  mutating func replace(_ node: some SyntaxProtocol, with text: String) {
    replace(node.contentRange, with: text)
  }

  mutating func insert(_ text: String, at offset: Int) { replace(offset..<offset, with: text) }

  /// Removes a node and the blanks behind it. Line ends inside the node and behind it stay.
  mutating func remove(_ node: some SyntaxProtocol, in bytes: [UInt8]) {
    var range = node.contentRange
    let lines = bytes[range].count { $0 == UInt8(ascii: "\n") }
    while range.upperBound < bytes.count, bytes[range.upperBound] == UInt8(ascii: " ") {
      range = range.lowerBound..<(range.upperBound + 1)
    }
    replace(range, with: String(repeating: "\n", count: lines))
  }

  /// The file with all edits. An edit inside a replaced range is dropped.
  func applied(to bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + 64 * edits.count)
    var position = 0
    let ordered = edits.sorted {
      $0.range.lowerBound != $1.range.lowerBound
        ? $0.range.lowerBound < $1.range.lowerBound : $0.order < $1.order
    }
    for edit in ordered where edit.range.lowerBound >= position {
      result += bytes[position..<edit.range.lowerBound]
      result += edit.text.utf8
      position = edit.range.upperBound
    }
    result += bytes[position...]
    return result
  }
}

extension SyntaxProtocol {
  /// The offsets of the node without the blanks and comments around it.
  var contentRange: Range<Int> {
    positionAfterSkippingLeadingTrivia.utf8Offset..<endPositionBeforeTrailingTrivia.utf8Offset
  }
}
