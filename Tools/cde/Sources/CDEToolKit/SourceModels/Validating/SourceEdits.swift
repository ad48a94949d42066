import CDESourceFacts
import Foundation

/// The edits of some findings, file by file.
struct SourceEdits {
  /// Edits by file, from the start of a file to its end. No two of them touch.
  private(set) var byFile: [String: [SourceEdit]] = [:]

  init(_ findings: [SourceFinding], _ tree: SourceTree) {
    var fixes: [[AnyHashable]: [AttributeFix]] = [:]
    var edits: [SourceEdit] = findings.compactMap(\.edit)
    for fix in findings.flatMap(\.fixes) {
      fixes[[fix.file, fix.declaration, fix.attribute], default: []].append(fix)
    }
    for list in fixes.values {
      guard let file = tree.files.first(where: { $0.path == list[0].file }),
        let property = file.property(at: list[0].declaration)
      else { continue }
      edits.append(Self.edit(list, of: property, in: file))
    }
    for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      let last = byFile[edit.file]?.last
      // Of two edits of one place the first is made; the next validation finds the other.
      if let last, edit.range.lowerBound < last.range.upperBound { continue }
      byFile[edit.file, default: []].append(edit)
    }
  }

  private static func edit(
    _ fixes: [AttributeFix], of property: SourceFacts.Property, in file: SourceTree.File
  ) -> SourceEdit {
    let changes = fixes.map(\.change)
    let attribute = fixes[0].attribute
    guard let known = property.attributes.first(where: { $0.name == attribute }) else {
      let parts = AttributeEditor.parts(changes, of: nil, attribute, file.bytes).map(\.text)
      let list = parts.isEmpty ? "" : "(\(parts.joined(separator: ", ")))"
      let start = property.declaration.start
      return SourceEdit(file: file.path, range: start..<start, text: "@\(attribute)\(list) ")
    }
    return AttributeEditor.edit(changes, of: known, in: file)
  }

  /// The file's bytes with its edits made.
  func applied(to file: SourceTree.File) -> [UInt8] {
    var result: [UInt8] = []
    var position = 0
    for edit in byFile[file.path] ?? [] {
      result += file.bytes[position..<edit.range.lowerBound]
      result += Array(edit.text.utf8)
      position = edit.range.upperBound
    }
    return result + file.bytes[position...]
  }

  /// Writes each file in one step, if it is still what was read.
  func write(_ tree: SourceTree) throws {
    for file in tree.files where byFile[file.path] != nil {
      let url = URL(fileURLWithPath: file.path)
      guard let now = FileManager.default.contents(atPath: file.path), [UInt8](now) == file.bytes else {
        throw ToolError("\(file.path) was changed while it was validated. Run the command again.")
      }
      try FileReplacement.write(applied(to: file), to: url)
    }
  }

  /// The lines that change, before and after.
  func preview(_ tree: SourceTree) -> [(file: String, line: Int, old: String, new: String)] {
    tree.files.flatMap { file -> [(file: String, line: Int, old: String, new: String)] in
      (byFile[file.path] ?? []).map { edit in
        let start = file.bytes[..<edit.range.lowerBound].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let end = file.bytes[edit.range.upperBound...].firstIndex(of: 0x0A) ?? file.bytes.count
        func text(_ bytes: some Sequence<UInt8>) -> String {
          String(decoding: Array(bytes), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        return (
          file.path, file.bytes[..<edit.range.lowerBound].count { $0 == 0x0A } + 1,
          text(file.bytes[start..<end]),
          text(
            file.bytes[start..<edit.range.lowerBound] + Array(edit.text.utf8)
              + file.bytes[edit.range.upperBound..<end])
        )
      }
    }
  }
}

/// Changes the arguments of one attribute.
enum AttributeEditor {
  struct Part {
    var label: String?
    var text: String
    /// The argument in whose place it is, unless it is new.
    var origin: Int?
  }

  private static let orders: [String: [String]] = [
    "Attribute": ["persistentName", "storageMethod", "decodeFailurePolicy", "originalName", "hashModifier"],
    "Relationship": [
      "persistentName", "inverse", "deleteRule", "minimumModelCount", "maximumModelCount",
    ],
  ]
  /// The order of SwiftData's.
  private static let modelOrder = [
    "deleteRule", "minimumModelCount", "maximumModelCount", "originalName", "inverse", "hashModifier",
  ]

  /// The arguments after the changes.
  static func parts(
    _ changes: [AttributeFix.Change], of attribute: SourceFacts.Attribute?, _ name: String, _ bytes: [UInt8]
  ) -> [Part] {
    var parts = (attribute?.arguments ?? []).enumerated().map { index, argument in
      Part(
        label: argument.label, text: String(decoding: bytes[argument.place.range], as: UTF8.self),
        origin: index)
    }
    for change in changes {
      switch change {
      case .addTrait(let text):
        let end = parts.firstIndex { $0.label != nil } ?? parts.count
        parts.insert(Part(label: nil, text: text, origin: nil), at: end)
      case .removeTrait(let name):
        parts.removeAll { $0.label == nil && ($0.text == ".\(name)" || $0.text.hasSuffix(".\(name)")) }
      case .remove(let label): parts.removeAll { $0.label == label }
      case .set(let label, let value):
        let part = Part(label: label, text: "\(label): \(value)", origin: nil)
        if let index = parts.firstIndex(where: { $0.label == label }) {
          parts[index].text = part.text
          continue
        }
        let isModel = value.hasPrefix("\\") || parts.contains { $0.text.contains("inverse: \\") }
        let order = isModel ? modelOrder : orders[name] ?? []
        let rank = order.firstIndex(of: label) ?? order.count
        let place = parts.firstIndex { part in
          part.label.map { (order.firstIndex(of: $0) ?? order.count) > rank } ?? false
        }
        parts.insert(part, at: place ?? parts.count)
      }
    }
    return parts
  }

  /// One edit that leaves the text of other arguments, and what is between them, as it is.
  static func edit(
    _ changes: [AttributeFix.Change], of attribute: SourceFacts.Attribute, in file: SourceTree.File
  ) -> SourceEdit {
    let parts = parts(changes, of: attribute, attribute.name, file.bytes)
    let old = attribute.arguments
    guard !parts.isEmpty else {
      // An attribute without arguments says nothing; what follows moves to its place.
      var end = attribute.place.end
      while end < file.bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(file.bytes[end]) { end += 1 }
      return SourceEdit(file: file.path, range: attribute.place.start..<end, text: "")
    }
    guard let first = old.first, let last = old.last else {
      let list = parts.map(\.text).joined(separator: ", ")
      if let inside = attribute.inside { return SourceEdit(file: file.path, range: inside.range, text: list) }
      return SourceEdit(file: file.path, range: attribute.place.end..<attribute.place.end, text: "(\(list))")
    }
    var text = ""
    var before: Int?
    for (index, part) in parts.enumerated() {
      if index > 0 {
        if let before, let origin = part.origin, origin == before + 1 {
          let gap = old[before].place.end..<old[origin].place.start
          text += String(decoding: file.bytes[gap], as: UTF8.self)
        } else {
          text += ", "
        }
      }
      text += part.text
      before = part.origin
    }
    return SourceEdit(file: file.path, range: first.place.start..<last.place.end, text: text)
  }
}
