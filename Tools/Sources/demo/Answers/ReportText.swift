import CoreDataEvolution
import PackageModel

/// What the program prints.
enum ReportText {
  private static let width = 100

  private static func heading(_ text: String) -> String { "\n\(text)\n" }

  static func indexed(_ report: IndexReport, in duration: Duration, store: IndexPlace, paintCount: Int)
    -> String
  {
    var lines: [String] = []
    let time = duration.formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1)))
    var parts: [String] = []
    for (count, word) in [
      (report.addedCount, "new"), (report.changedCount, "changed"), (report.removedCount, "removed"),
      (report.unchangedCount, "unchanged"), (report.repeatedCount, "repeated"),
    ] where count > 0 {
      parts.append("\(grouped(count)) \(word)")
    }
    lines.append(
      "Read \(counted(report.recordCount, "record")) in \(time): "
        + (parts.isEmpty ? "nothing" : parts.joined(separator: ", "))
        + ". \(counted(report.saveCount, "save")), progress painted \(counted(paintCount, "time")).")
    if !report.isFirst { lines += changes(report.changes) }
    if report.malformedCount > 0 {
      lines.append("\(counted(report.malformedCount, "malformed record")) left out:")
      for (source, record) in report.malformed {
        lines.append("  \(source):\(record.line): \(record.name.map { "\($0): " } ?? "")\(record.reason)")
      }
      let rest = report.malformedCount - report.malformed.count
      if rest > 0 { lines.append("  and \(grouped(rest)) more") }
    }
    return (lines + report.notes).joined(separator: "\n")
  }

  /// What a run leaves that was ended early.
  static func stopped(_ report: IndexReport, of total: Int, store: IndexPlace) -> String {
    "Stopped after \(grouped(report.recordCount)) of \(counted(total, "record")). "
      + "\(counted(report.addedCount, "new version")) and \(counted(report.changedCount, "changed one")) "
      + "are kept in \(store.name); the next run goes on from there."
  }

  /// What an update did; a version that went while another came is an upgrade.
  static func changes(_ changes: [IndexReport.Change]) -> [String] {
    guard !changes.isEmpty else { return ["Nothing has changed since the last run."] }
    let added = Dictionary(changes.filter { $0.kind == .added }.map { ($0.name, $0.version) }) { $1 }
    let removed = Dictionary(changes.filter { $0.kind == .removed }.map { ($0.name, $0.version) }) { $1 }
    var lines: [String] = []
    func list(_ title: String, _ entries: [String]) {
      let shown = 6
      guard !entries.isEmpty else { return }
      let rest = entries.count - shown
      let tail = rest > 0 ? ["and \(grouped(rest)) more"] : []
      let words = (entries.prefix(shown) + tail).joined(separator: ", ").split(separator: " ").map(
        String.init)
      lines.append("  " + title.padded(10) + String.wrapped(words, width: width, indent: 12).dropFirst(12))
    }
    let changedNames = changes.filter { $0.kind == .changed }.map { "\($0.name) \($0.version)" }
    list("new", added.filter { removed[$0.key] == nil }.map { "\($0.key) \($0.value)" }.sorted())
    list(
      "replaced", added.compactMap { name, new in removed[name].map { "\(name) \($0) -> \(new)" } }.sorted())
    list("changed", changedNames.sorted())
    list("removed", removed.filter { added[$0.key] == nil }.map { "\($0.key) \($0.value)" }.sorted())
    return ["Since the last run:"] + lines
  }

  static func overview(_ overview: Questions.Overview) -> String {
    let virtual = counted(overview.virtualNames, "virtual name")
    let missing = "\(counted(overview.missingNames, "name")) without a package"
    return heading("The index")
      + """
        \(counted(overview.packages, "package")) in \(counted(overview.versions, "version")), \
      \(grouped(overview.installed)) installed; \(virtual), \(missing)
        \(counted(overview.sections, "section")), \(counted(overview.maintainers, "maintainer"))
      """
  }

  static func mostDependedUpon(_ answers: [Questions.Dependents]) -> String {
    guard !answers.isEmpty else { return heading("Most depended upon") + "  nothing: there is no dependency" }
    let name = max(20, answers.map(\.name.count).max() ?? 0)
    let rows = answers.map {
      "  \($0.name.padded(name))\(grouped($0.all).padded(10, leading: true))"
        + grouped($0.installed).padded(12, leading: true)
    }
    return heading("Most depended upon".padded(name + 2) + "  versions   installed")
      + rows.joined(separator: "\n")
  }

  static func largest(_ answers: [Questions.SectionSize], installedOnly: Bool) -> String {
    let shown = answers.prefix(10)
    let section = max(12, shown.map(\.section.count).max() ?? 0)
    let rows = shown.map { answer in
      let items = answer.largest.map { "\($0.name) \(size($0.size))" }
      let name = answer.section.isEmpty ? "(none)" : answer.section
      return "  \(name.padded(section)) \(grouped(answer.versionCount).padded(7, leading: true))   "
        + items.joined(separator: ", ")
    }
    let rest = answers.count - shown.count
    let tail = rest > 0 ? ["  and \(counted(rest, "section")) with smaller ones"] : []
    return heading("Largest by section (\(installedOnly ? "installed" : "all"): versions, the two largest)")
      + (rows + tail).joined(separator: "\n")
  }

  static func orphans(_ orphans: [Questions.Orphan]) -> String {
    let shown = 40
    let rest = orphans.count - shown
    let names = orphans.prefix(shown).map(\.name) + (rest > 0 ? ["and \(grouped(rest)) more"] : [])
    return heading("Orphans: \(counted(orphans.count, "installed package")) that no installed package needs")
      + String.wrapped(names, width: width, indent: 2)
  }

  static func path(_ path: DependencyPath?, from: String, to: String) -> String {
    guard let path else { return heading("Shortest dependency path") + "  \(from) does not lead to \(to)" }
    var words: [String] = []
    for (index, step) in path.steps.enumerated() {
      if index > 0 { words.append(step.isProvider ? "provided by" : "->") }
      words.append(step.name)
    }
    return heading(
      "Shortest dependency path from \(from) to \(to): \(counted(path.length, "step"))")
      + String.wrapped(words, width: width, indent: 2)
  }

  static func closing(store: IndexPlace) -> String {
    """

    The store is a database in Core Data's layout:
      \(store.command)
    """
  }
}
