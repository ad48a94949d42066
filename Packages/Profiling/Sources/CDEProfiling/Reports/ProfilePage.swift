/// A report as one HTML page: tables, and a lane of events for each context.
struct ProfilePage {
  private let report: CDEProfileReport

  init(_ report: CDEProfileReport) { self.report = report }

  var text: String {
    """
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
    <title>Profile</title><style>\(Self.style)</style></head><body>
    <h1>Profile of \(ProfileText.time(report.milliseconds))</h1>
    <p>Contexts: \(report.contexts.count), fetches: \(report.fetches.count), saves: \(report.saves.count), \
    merges: \(report.merges.count), woken readers of objects: \(report.wakes).</p>
    <h2>Single faults</h2>
    \(faults)
    <h2>Fetches in runs</h2>
    \(fetchedEntities)
    <h2>Slow fetches</h2>
    \(slow(report.fetches))
    <h2>Slow saves</h2>
    \(slow(report.saves))
    <h2>Slow merges</h2>
    \(slow(report.merges))
    <h2>Timeline</h2>
    \(ProfileTimeline(report).text)
    </body></html>

    """
  }

  static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
    return result
  }

  private static let style = """
    :root{color-scheme:light dark;--line:#8884;--fetch:#3b7dd8;--save:#c2571a;--merge:#7a4fc0;--wake:#c0392b;--block:#9994}
    body{font:14px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem}
    h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}
    table{border-collapse:collapse;width:100%}
    th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid var(--line)}
    td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
    code{font:12px ui-monospace,monospace;overflow-wrap:anywhere}
    .remedy{margin:.2rem 0 0}
    svg{width:100%;height:auto}svg text{fill:currentColor;font:11px system-ui,sans-serif}
    .fetch{fill:var(--fetch)}.save{fill:var(--save)}.merge{fill:var(--merge)}.wake{fill:var(--wake)}.block{fill:var(--block)}
    .key span{display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 1em}
    .key .fetch{background:var(--fetch)}.key .save{background:var(--save)}.key .merge{background:var(--merge)}
    .key .wake{background:var(--wake)}.key .block{background:var(--block)}
    """

  private func table(_ head: [String], _ rows: [[String]]) -> String {
    if rows.isEmpty { return "<p>None.</p>" }
    func cells(_ texts: [String], _ name: String) -> String {
      texts.enumerated().map { index, text in
        "<\(name)\(index == 0 ? " class=\"n\"" : "")>\(text)</\(name)>"
      }.joined()
    }
    return "<table><tr>\(cells(head, "th"))</tr>"
      + rows.map { "<tr>\(cells($0, "td"))</tr>" }.joined(separator: "\n") + "</table>"
  }

  private func places(_ places: [CDEProfileReport.Place]) -> String {
    places.prefix(10).map { place in
      "\(place.count) at <code>\(Self.escaped(place.place ?? "an unknown place"))</code>"
    }.joined(separator: "<br>")
  }

  private var faults: String {
    table(
      ["Faults", "Of", "In runs", "Places"],
      report.faults.map { fault in
        let what = fault.relationship.map { "\(fault.entity).\($0)" } ?? fault.entity
        let remedy =
          fault.repeated > 0
          ? "<p class=\"remedy\">\(Self.escaped(ProfileText.remedy(fault)))</p>" : ""
        return ["\(fault.count)", Self.escaped(what), "\(fault.repeated)", places(fault.places) + remedy]
      })
  }

  private var fetchedEntities: String {
    table(
      ["Fetches", "Of", "In runs", "Places"],
      report.fetchedEntities.filter { $0.repeated > 0 }.map {
        ["\($0.count)", Self.escaped($0.entity), "\($0.repeated)", places($0.places)]
      })
  }

  private func slow(_ times: CDEProfileReport.Times) -> String {
    table(
      ["Time", "What", "Context", "Place"],
      times.slow.map { event in
        [
          ProfileText.time(event.milliseconds), Self.escaped("\(event.what), \(event.detail)"),
          Self.escaped(event.context), "<code>\(Self.escaped(event.place ?? "an unknown place"))</code>",
        ]
      })
  }
}

/// The events of a report as a picture: time from left to right, a lane for each context.
private struct ProfileTimeline {
  private static let width = 1100.0
  private static let left = 160.0
  private static let lane = 26.0
  private let report: CDEProfileReport

  init(_ report: CDEProfileReport) { self.report = report }

  var text: String {
    if report.timeline.isEmpty {
      return "<p>Not recorded. CDE_PROFILE=FILE.html and the option recordsTimeline record it.</p>"
    }
    let lanes = Array(Set(report.timeline.map(\.context))).sorted()
    let rows = Dictionary(uniqueKeysWithValues: zip(lanes, lanes.indices))
    let end = max(report.timeline.map { $0.start + $0.duration }.max() ?? 0, 0.001)
    let begin = min(report.timeline.map(\.start).min() ?? 0, end)
    let scale = (Self.width - Self.left) / max(end - begin, 0.001)
    let height = Double(lanes.count) * Self.lane + 24
    var result =
      "<p class=\"key\"><span class=\"block\"></span>block <span class=\"fetch\"></span>fetch <span class=\"save\"></span>save "
      + "<span class=\"merge\"></span>merge <span class=\"wake\"></span>wake</p>\n"
    if report.droppedEvents > 0 { result += "<p>\(report.droppedEvents) older events are left out.</p>\n" }
    result += "<svg viewBox=\"0 0 \(Self.text(Self.width)) \(Self.text(height))\" role=\"img\">\n"
    for (row, lane) in lanes.enumerated() {
      let name = report.contexts[lane]
      let short = name.count > 24 ? name.prefix(23) + "…" : name[...]
      let y = Double(row) * Self.lane
      result +=
        "<text x=\"0\" y=\"\(Self.text(y + 17))\">\(ProfilePage.escaped(String(short)))<title>\(ProfilePage.escaped(name))</title></text>"
      result +=
        "<line x1=\"0\" x2=\"\(Self.text(Self.width))\" y1=\"\(Self.text(y + Self.lane))\" y2=\"\(Self.text(y + Self.lane))\" stroke=\"currentColor\" stroke-opacity=\".15\"/>\n"
    }
    // Blocks are below what happens in them. Events that share a point of the picture are drawn once.
    var drawn: Set<[Int]> = []
    for event in report.timeline.filter({ $0.kind == "block" })
      + report.timeline.filter({ $0.kind != "block" })
    {
      let x = Self.left + (event.start - begin) * scale
      let width = max(event.duration * scale, 0.8)
      let row = rows[event.context]!
      let isBlock = event.kind == "block"
      guard
        drawn.insert([
          row, Int(x * 2), Int(width * 2), event.kind.utf8.count &* 256 &+ Int(event.kind.utf8.first ?? 0),
        ])
        .inserted
      else { continue }
      let y = Double(row) * Self.lane + (isBlock ? 2 : 6)
      result +=
        "<rect class=\"\(event.kind)\" x=\"\(Self.text(x))\" y=\"\(Self.text(y))\" width=\"\(Self.text(width))\" height=\"\(isBlock ? 22 : 14)\">"
        + "<title>\(event.kind) \(ProfilePage.escaped(event.label)) \(ProfileText.time(event.duration))</title></rect>\n"
    }
    let bottom = Self.text(height - 6)
    result += "<text x=\"\(Self.text(Self.left))\" y=\"\(bottom)\">\(ProfileText.time(begin))</text>"
    result +=
      "<text x=\"\(Self.text(Self.width))\" y=\"\(bottom)\" text-anchor=\"end\">\(ProfileText.time(end))</text>\n</svg>"
    return result
  }

  /// A number with one digit behind the point.
  private static func text(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
  }
}
