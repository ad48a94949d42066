import Foundation

/// Which file of a module uses what another file of it declares.
struct ModuleReferences {
  /// A file and a symbol that it uses, once for all uses.
  struct Reference {
    let file: String
    /// Line of the first use.
    let line: Int
    let symbol: Declaration
  }

  /// A symbol and the file that declares it.
  struct Declaration {
    /// The name, with that of the type that the symbol is a member of.
    let name: String
    let file: String
    let isType: Bool
  }

  /// Paths within the module's folder.
  let files: [String]
  let references: [Reference]

  /// Reads the records of a module's files.
  ///
  /// - Parameters:
  ///   - folder: the module's folder.
  ///   - units: the module's units. The newest one of each file counts: renamed files leave units behind, and a module that is
  ///     built for the tools of a build as well has two for each file.
  init(folder: URL, units: [IndexStore.Unit], index: IndexStore) throws {
    let root = folder.resolvingSymlinksInPath().path + "/"
    var newest: [String: IndexStore.Unit] = [:]
    for unit in units where unit.file.hasPrefix(root) {
      let file = String(unit.file.dropFirst(root.count))
      if let known = newest[file], known.written > unit.written { continue }
      newest[file] = unit
    }
    files = try Self.sources(in: folder)
    var declarations: [String: Declaration] = [:]
    var uses: [(file: String, occurrence: IndexStore.Occurrence)] = []
    for file in files {
      guard let unit = newest[file], unit.written >= (try Self.changed(folder.appending(path: file))) else {
        throw LadderError("The index is older than \(root)\(file). Run swift build first.")
      }
      for occurrence in try index.occurrences(in: unit) where !occurrence.isAccessor {
        if occurrence.isReference { uses.append((file, occurrence)) }
        if occurrence.isDefinition, declarations[occurrence.symbol.usr] == nil {
          let symbol = occurrence.symbol
          let isMember = occurrence.parent != nil && !symbol.isType
          declarations[symbol.usr] = Declaration(
            name: isMember ? "\(occurrence.parent!).\(symbol.name)" : symbol.name, file: file,
            isType: symbol.isType)
        }
      }
    }
    var seen: Set<[String]> = []
    references = uses.compactMap { file, occurrence in
      guard let declaration = declarations[occurrence.symbol.usr], declaration.file != file,
        seen.insert([file, occurrence.symbol.usr]).inserted
      else { return nil }
      return Reference(file: file, line: occurrence.line, symbol: declaration)
    }
  }

  private static func sources(in folder: URL) throws -> [String] {
    guard let paths = FileManager.default.enumerator(atPath: folder.path) else {
      throw LadderError("There is no folder \(folder.path).")
    }
    return paths.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted()
  }

  private static func changed(_ file: URL) throws -> Date {
    try FileManager.default.attributesOfItem(atPath: file.path)[.modificationDate] as? Date ?? .distantPast
  }

  /// The largest set of files of which each reaches all others by its references; empty if no two files do.
  func largestCircle(by isCounted: (Reference) -> Bool) -> [String] {
    var next: [String: Set<String>] = [:]
    for reference in references where isCounted(reference) {
      next[reference.file, default: []].insert(reference.symbol.file)
    }
    return circles(of: files, next: next).max { $0.count < $1.count } ?? []
  }
}

/// The sets of at least two names that reach each other: Tarjan's strongly connected components.
private func circles(of names: [String], next: [String: Set<String>]) -> [[String]] {
  var number: [String: Int] = [:]
  var lowest: [String: Int] = [:]
  var path: [String] = []
  var onPath: Set<String> = []
  var found: [[String]] = []
  func visit(_ name: String) {
    number[name] = number.count
    lowest[name] = number[name]
    path.append(name)
    onPath.insert(name)
    for other in next[name, default: []] {
      if number[other] == nil {
        visit(other)
        lowest[name] = min(lowest[name]!, lowest[other]!)
      } else if onPath.contains(other) {
        lowest[name] = min(lowest[name]!, number[other]!)
      }
    }
    guard lowest[name] == number[name] else { return }
    let start = path.lastIndex(of: name)!
    let circle = Array(path[start...])
    path.removeSubrange(start...)
    onPath.subtract(circle)
    if circle.count > 1 { found.append(circle.sorted()) }
  }
  for name in names where number[name] == nil { visit(name) }
  return found
}
