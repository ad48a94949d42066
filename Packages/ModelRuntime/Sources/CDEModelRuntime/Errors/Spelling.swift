/// Suggests the right spelling of a name.
enum Spelling {
  /// A hint for an unknown name: the nearest known name, otherwise all known names.
  static func hint(_ name: String, _ known: [String], all: String = "It has") -> String {
    if let near = nearest(name, known) { return "Did you mean \"\(near)\"?" }
    return "\(all): \(known.isEmpty ? "none" : known.joined(separator: ", "))."
  }

  /// The nearest name, which differs by at most two letters; otherwise the only one that contains the wrong
  /// name; nil for none or several.
  private static func nearest(_ name: String, _ known: [String]) -> String? {
    let wrong = Array(name.lowercased())
    guard wrong.count > 1 else { return nil }
    let distances = known.map { (name: $0, distance: distance(wrong, Array($0.lowercased()))) }
    let allowed = wrong.count < 5 ? 1 : 2
    if let best = distances.min(by: { $0.distance < $1.distance }), best.distance <= allowed {
      return best.name
    }
    let parts = known.filter { $0.lowercased().contains(name.lowercased()) }
    return parts.count == 1 ? parts[0] : nil
  }

  /// The number of letters to insert, remove, replace or swap with the next one.
  private static func distance(_ one: [Character], _ other: [Character]) -> Int {
    var rows = [Array(0...other.count)]
    for row in 1...max(one.count, 1) where row <= one.count {
      var costs = [row]
      for column in 1...max(other.count, 1) where column <= other.count {
        let isSame = one[row - 1] == other[column - 1]
        var cost = min(
          rows[row - 1][column] + 1, costs[column - 1] + 1, rows[row - 1][column - 1] + (isSame ? 0 : 1))
        if row > 1, column > 1, one[row - 1] == other[column - 2], one[row - 2] == other[column - 1] {
          cost = min(cost, rows[row - 2][column - 2] + 1)
        }
        costs.append(cost)
      }
      rows.append(costs)
    }
    return rows[one.count][other.count]
  }
}
