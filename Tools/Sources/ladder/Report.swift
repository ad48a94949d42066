/// What a module's references say of its ladder: figures, and the problems among them.
struct Report {
  let ladder: Ladder
  let references: ModuleReferences
  /// Path of the module's folder, for messages.
  let folder: String

  private func isUpward(_ reference: ModuleReferences.Reference) -> Bool {
    guard let from = ladder.rank(of: reference.file), let to = ladder.rank(of: reference.symbol.file) else {
      return false
    }
    return to > from
  }

  private func exception(for reference: ModuleReferences.Reference) -> Ladder.Exception {
    Ladder.Exception(file: reference.file, symbol: reference.symbol.name)
  }

  private var upward: [ModuleReferences.Reference] {
    references.references.filter(isUpward).sorted {
      (ladder.rank(of: $0.file)!, $0.file, $0.line) < (ladder.rank(of: $1.file)!, $1.file, $1.line)
    }
  }

  private var filesByFolder: [(folder: String, count: Int)] {
    Dictionary(grouping: references.files, by: Ladder.folder(of:)).map { ($0.key, $0.value.count) }
      .sorted { ($1.count, $0.folder) < ($0.count, $1.folder) }
  }

  /// Prints the figures, and with `details` what they count.
  ///
  /// - Returns: the problems, one a line.
  func print(details: Bool) -> [String] {
    if references.references.isEmpty {
      Swift.print("\(ladder.module): the build has none of its code. Build with the module's trait.")
      return []
    }
    let upward = upward
    let byTypes = references.largestCircle { $0.symbol.isType }
    let bySymbols = references.largestCircle { _ in true }
    let remaining = references.largestCircle { !isUpward($0) || ladder.exceptions[exception(for: $0)] == nil }
    let crossing = references.references.count { ladder.rank(of: $0.file) != ladder.rank(of: $0.symbol.file) }
    let figures: [(Ladder.Measure, Int)] = [
      (.upward, upward.count), (.circleOfTypes, byTypes.count), (.circle, bySymbols.count),
      (.remainingCircle, remaining.count), (.folder, filesByFolder.first?.count ?? 0),
    ]
    Swift.print("\(ladder.module): \(references.files.count) files, \(crossing) references between folders")
    var problems = strangeFolders + unlisted(upward) + needless(upward)
    for (measure, figure) in figures {
      guard let most = ladder.limits[measure] else {
        problems.append(
          "\(ladder.readme): the table of limits of \(ladder.module) lacks \"\(measure.rawValue)\"")
        continue
      }
      Swift.print("  \(measure.rawValue): \(figure), at most \(most)")
      if figure > most {
        problems.append("\(ladder.module): \(figure) \(measure.rawValue), \(most) are the most")
      }
    }
    guard details else { return problems }
    for reference in upward { Swift.print("  upward: \(describe(reference))") }
    for file in byTypes { Swift.print("  circle by types: \(file)") }
    for file in bySymbols { Swift.print("  circle by all symbols: \(file)") }
    for file in remaining { Swift.print("  circle without the exceptions: \(file)") }
    if let most = ladder.limits[.folder] {
      for (folder, count) in filesByFolder where count > most {
        Swift.print("  many files: \(folder): \(count)")
      }
    }
    return problems
  }

  private func describe(_ reference: ModuleReferences.Reference) -> String {
    "\(folder)/\(reference.file):\(reference.line): \(reference.symbol.name) of \(reference.symbol.file)"
  }

  private var strangeFolders: [String] {
    references.files.filter { ladder.rank(of: $0) == nil }.map {
      "\(folder)/\($0): the folder stands in no table of \(ladder.readme)"
    }
  }

  private func unlisted(_ upward: [ModuleReferences.Reference]) -> [String] {
    upward.filter { ladder.exceptions[exception(for: $0)] == nil }.map {
      "\(describe($0)), which is in a higher folder"
    }
  }

  private func needless(_ upward: [ModuleReferences.Reference]) -> [String] {
    let needed = Set(upward.map(exception(for:)))
    return ladder.exceptions.filter { !needed.contains($0.key) }.sorted { $0.value < $1.value }.map {
      "\(ladder.readme):\($0.value): \($0.key.file) needs no exception for \($0.key.symbol): take it out"
    }
  }
}
