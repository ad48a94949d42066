/// A quick search for the words that make a file worth parsing.
///
/// Most files of an application have none of them and are taken over as they are.
enum SourceNeedles {
  static let words = [
    "@objc", "@NSManaged", "#keyPath", "#selector", "CoreData", "SwiftData", "NSFetchRequest<", "Bundle",
    "NSClassFromString",
    "NSExpression", "predicateFormat", "NSComparisonPredicate", "NSCompoundPredicate", "@IB",
    "NSManagedObject", "NSPersistent", "ValueTransformer", "observeValue", "FileProtectionType.",
    "urls(forResources", "?(", "import",
    ".observe(", "bundle: .main", "override ", "_kvcKeyPathString",
  ].map { Array($0.utf8) }

  /// Words by their first byte.
  private static let table: [[[UInt8]]] = {
    var table = Array(repeating: [[UInt8]](), count: 256)
    for word in words { table[Int(word[0])].append(word) }
    return table
  }()

  /// Frameworks that Linux lacks, and modules that are replaced. An import of another module is left alone.
  private static let imports = Set(ImportedModules.replaced.keys).union(ImportedModules.absent.keys).union([
    "XCTest"
  ])

  /// Whether a file has to be parsed.
  ///
  /// - Parameters:
  ///   - optionalMembers: names of optional requirements; a call of one needs an edit.
  ///   - replaced: modules in whose place the target names another.
  static func areFound(in bytes: [UInt8], optionalMembers: Set<String>, replaced: Set<String> = []) -> Bool {
    bytes.withUnsafeBufferPointer { bytes in
      var position = 0
      while position < bytes.count {
        for word in table[Int(bytes[position])] where starts(word, bytes, position) {
          switch word[0] {
          case UInt8(ascii: "?"):
            if optionalMembers.contains(identifier(before: position, bytes)) { return true }
          case UInt8(ascii: "i"):
            // `import class Module.Name` names the module behind the kind.
            var end = position + word.count
            var name = identifier(after: &end, bytes)
            if kinds.contains(name) { name = identifier(after: &end, bytes) }
            if imports.contains(name) || replaced.contains(name) { return true }
          default: return true
          }
        }
        position += 1
      }
      return false
    }
  }

  private static func starts(_ word: [UInt8], _ bytes: UnsafeBufferPointer<UInt8>, _ position: Int) -> Bool {
    guard position + word.count <= bytes.count else { return false }
    for index in word.indices where bytes[position + index] != word[index] { return false }
    return true
  }

  private static func isPart(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_") || (byte >= 48 && byte < 58) || (byte | 32 >= 97 && byte | 32 <= 122)
  }

  private static func identifier(before end: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> String {
    var start = end
    while start > 0, isPart(bytes[start - 1]) { start -= 1 }
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }

  /// The kinds of declarations that an import may name.
  private static let kinds: Set<String> = [
    "class", "struct", "enum", "protocol", "func", "var", "let", "typealias",
  ]

  private static func identifier(after place: inout Int, _ bytes: UnsafeBufferPointer<UInt8>) -> String {
    var start = place
    while start < bytes.count, bytes[start] == UInt8(ascii: " ") { start += 1 }
    var end = start
    while end < bytes.count, isPart(bytes[end]) { end += 1 }
    place = end
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }
}
