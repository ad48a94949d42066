/// A report as lines for a terminal.
struct ProfileText {
  private var lines: [String] = []

  init(_ report: CDEProfileReport) {
    let faults = report.faults.reduce(0) { $0 + $1.count }
    let repeated = report.faults.reduce(0) { $0 + $1.repeated }
    lines.append(
      "Profile of \(Self.time(report.milliseconds)), \(Self.counted(report.contexts.count, "context"))")
    lines.append("Single faults: \(faults), of which \(repeated) in runs of ten or more")
    for fault in report.faults {
      let what = fault.relationship.map { "\(fault.entity).\($0)" } ?? fault.entity
      lines.append("  \(fault.count)  \(what)")
      add(fault.places)
      if fault.repeated > 0 { lines.append("      \(Self.remedy(fault))") }
    }
    lines.append(
      "Fetches: \(report.fetches.count) in \(Self.time(report.fetches.milliseconds)), \(report.fetches.objects) results"
    )
    for fetches in report.fetchedEntities where fetches.repeated > 0 {
      lines.append(
        "  \(fetches.count)  \(fetches.entity), \(fetches.repeated) of them in runs of ten or more")
      add(fetches.places)
      lines.append("      One fetch with a condition of the form `key IN values` may answer all of them.")
    }
    add(report.fetches.slow)
    lines.append(
      "Saves: \(report.saves.count) in \(Self.time(report.saves.milliseconds)), \(report.saves.objects) objects"
    )
    add(report.saves.slow)
    lines.append("Merges: \(report.merges.count) in \(Self.time(report.merges.milliseconds))")
    add(report.merges.slow)
    lines.append("Woken readers of objects: \(report.wakes)")
  }

  var text: String { lines.joined(separator: "\n") + "\n" }

  private mutating func add(_ places: [CDEProfileReport.Place]) {
    for place in places.prefix(5) {
      lines.append("      \(place.count)  at \(place.place ?? "an unknown place")")
    }
    if places.count > 5 { lines.append("      \(places.count - 5) more places") }
  }

  private mutating func add(_ slow: [CDEProfileReport.Slow]) {
    for event in slow {
      lines.append(
        "  \(Self.time(event.milliseconds))  \(event.what), \(event.detail), in \(event.context)")
      lines.append("      at \(event.place ?? "an unknown place")")
    }
  }

  /// A number with its noun.
  static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

  /// What to change so that a run of faults is one request.
  static func remedy(_ fault: CDEProfileReport.Fault) -> String {
    guard let remedy = fault.remedy, let entity = remedy.entity else {
      return
        "Fetch the objects together, with the condition `self IN objects`, before their properties are read."
    }
    let place = remedy.place.map { " at \($0)" } ?? ""
    if remedy.keyPaths.isEmpty {
      return "Let the fetch of \(entity)\(place) read the rows: returnsObjectsAsFaults = false."
    }
    let paths = remedy.keyPaths.map { "[\"\($0)\"]" }.joined(separator: " or ")
    return "In the fetch of \(entity)\(place): relationshipKeyPathsForPrefetching = \(paths)"
  }

  /// Milliseconds, or seconds, with three digits that count.
  static func time(_ milliseconds: Double) -> String {
    func rounded(_ value: Double, _ digits: Int) -> String {
      var scale = 1
      for _ in 0..<digits { scale *= 10 }
      let number = Int((value * Double(scale)).rounded())
      if digits == 0 { return "\(number)" }
      let rest = String(number % scale)
      return "\(number / scale).\(String(repeating: "0", count: digits - rest.count))\(rest)"
    }
    if milliseconds >= 10_000 { return rounded(milliseconds / 1000, 1) + " s" }
    if milliseconds >= 1000 { return rounded(milliseconds / 1000, 2) + " s" }
    return rounded(milliseconds, milliseconds >= 100 ? 0 : milliseconds >= 10 ? 1 : 2) + " ms"
  }
}
