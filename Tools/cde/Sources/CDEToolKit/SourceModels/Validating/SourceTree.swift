import CDESourceFacts
import Foundation

/// The Swift files of a folder with their declarations.
struct SourceTree {
  struct File {
    var path: String
    var bytes: [UInt8]
    var facts: SourceFacts.File

    func property(at start: Int) -> SourceFacts.Property? {
      for type in facts.types {
        if let found = type.properties.first(where: { $0.declaration.start == start }) { return found }
      }
      return nil
    }
  }

  let files: [File]

  /// Reads all Swift files below a folder. Hidden files and folders are left out.
  init(_ folder: URL, _ program: () throws -> SourceFactsProgram) throws {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder) else {
      throw ToolError("There is no folder \(folder.path). Name the folder of the sources by --sources.")
    }
    let paths =
      isFolder.boolValue
      ? try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { path in
        path.hasSuffix(".swift") && !path.split(separator: "/").contains { $0.hasPrefix(".") }
      }.sorted().map { folder.appendingPathComponent($0).path } : [folder.path]
    let read = try paths.map { path in
      guard let data = FileManager.default.contents(atPath: path) else {
        throw ToolError("\(path) can't be read. Check its permissions.")
      }
      return (path: path, data: data)
    }
    // The parser is slow: a file without any of these words has neither a model nor a type of its properties.
    let chosen = read.filter { file in Self.needles.contains { file.data.range(of: $0) != nil } }
    let facts = chosen.isEmpty ? [] : try program().facts(of: chosen.map(\.path))
    files = zip(chosen, facts).map { File(path: $0.path, bytes: [UInt8]($0.data), facts: $1) }
  }

  private static let needles = ["@PersistentModel", "@Model", "NSManagedObject", "@Composition", "enum "].map
  {
    Data($0.utf8)
  }

  /// The type that a name means in a class: one of the class, or the only one of the name.
  func type(
    _ name: String, _ kind: SourceFacts.TypeDeclaration.Kind, in scope: String
  ) -> SourceFacts.TypeDeclaration? {
    let all = files.flatMap { $0.facts.types.filter { $0.kind == kind } }
    var outer = scope.split(separator: ".")
    while true {
      let full = (outer.map(String.init) + [name]).joined(separator: ".")
      if let found = all.first(where: { $0.name == full }) { return found }
      if outer.popLast() == nil { break }
    }
    let others = all.filter { $0.name.hasSuffix(".\(name)") }
    return others.count == 1 ? others[0] : nil
  }
}

extension SourceFacts.TypeDeclaration {
  func attribute(_ name: String) -> SourceFacts.Attribute? { attributes.first { $0.name == name } }
}

extension SourceFacts.Property {
  func attribute(_ name: String) -> SourceFacts.Attribute? { attributes.first { $0.name == name } }

  /// Whether a model macro looks at it at all.
  var isStored: Bool { isVariable && !isStatic && !isLazy && !isComputed }
}

extension SourceFacts.Attribute {
  subscript(label: String) -> SourceFacts.Text? {
    guard let value = arguments.first(where: { $0.label == label })?.value, value.text != "nil" else {
      return nil
    }
    return value
  }

  /// Whether it has the trait `.name`, however qualified.
  func hasTrait(_ name: String) -> Bool {
    arguments.contains {
      $0.label == nil && $0.value.text.split(separator: ".").last.map(String.init) == name
    }
  }
}

/// A type as source text, taken apart.
struct TypeText: Equatable {
  enum Shape: Equatable {
    case plain(String), set(String), array(String)
  }

  var shape: Shape
  var isOptional: Bool

  init(_ text: String) {
    var rest = text.filter { !$0.isWhitespace }
    isOptional = false
    while rest.hasPrefix("("), rest.hasSuffix(")") { rest = String(rest.dropFirst().dropLast()) }
    if rest.hasSuffix("?") || rest.hasSuffix("!") {
      isOptional = true
      rest.removeLast()
    } else if let inner = Self.argument(of: "Optional", rest) {
      isOptional = true
      rest = inner
    }
    while rest.hasPrefix("("), rest.hasSuffix(")") { rest = String(rest.dropFirst().dropLast()) }
    if let element = Self.argument(of: "Set", rest) {
      shape = .set(Self.bare(element))
    } else if let element = Self.argument(of: "Array", rest) {
      shape = .array(Self.bare(element))
    } else if rest.hasPrefix("["), rest.hasSuffix("]"), !Self.hasColon(rest) {
      shape = .array(Self.bare(String(rest.dropFirst().dropLast())))
    } else {
      shape = .plain(Self.bare(rest))
    }
  }

  /// The type without its optional layer, as one spelling.
  var name: String {
    switch shape {
    case .plain(let name): name
    case .set(let element): "Set<\(element)>"
    case .array(let element): "[\(element)]"
    }
  }

  private static func argument(of name: String, _ text: String) -> String? {
    for head in ["\(name)<", "Swift.\(name)<"] where text.hasPrefix(head) && text.hasSuffix(">") {
      return String(text.dropFirst(head.count).dropLast())
    }
    return nil
  }

  private static func bare(_ text: String) -> String {
    for module in ["Swift.", "Foundation."] where text.hasPrefix(module) {
      return String(text.dropFirst(module.count))
    }
    return text.replacingOccurrences(of: "`", with: "")
  }

  /// Whether a bracketed type is that of a dictionary.
  private static func hasColon(_ text: String) -> Bool {
    var depth = 0
    for character in text {
      if "[<(".contains(character) { depth += 1 }
      if "]>)".contains(character) { depth -= 1 }
      if character == ":", depth == 1 { return true }
    }
    return false
  }
}
