/// Which of some old names each of some new names continues: by renaming identifiers, then by names.
struct NameMatches {
  struct Name {
    let name: String
    /// The renaming identifier; nil for the name itself.
    let identifier: String?

    /// Whether an identifier says that the name was another one.
    var isRenamed: Bool { identifier != nil && identifier != name }
  }

  enum Result {
    /// The name is new.
    case none
    case one(Int)
    /// Several old names have the renaming identifier.
    case several
    /// Another new name, at the second place, continues the same old name.
    case shared(Int, with: Int)
  }

  /// For each new name, in their order.
  private(set) var results: [Result] = []

  init(_ new: [Name], among old: [Name]) {
    results = new.map { Self.match($0, among: old) }
    var claims: [Int: Int] = [:]
    for place in new.indices {
      guard case .one(let found) = results[place] else { continue }
      guard let other = claims[found] else {
        claims[found] = place
        continue
      }
      if Self.keeps(new[other], old[found]), !new[place].isRenamed {
        results[place] = .none
      } else if Self.keeps(new[place], old[found]), !new[other].isRenamed {
        results[other] = .none
        claims[found] = place
      } else {
        results[place] = .shared(found, with: other)
      }
    }
  }

  private static func match(_ new: Name, among old: [Name]) -> Result {
    let identifier = new.identifier ?? new.name
    let same = old.indices.filter { old[$0].identifier == identifier }
    if same.count > 1 {
      let named = same.filter { old[$0].name == new.name || old[$0].name == identifier }
      return named.count == 1 ? .one(named[0]) : .several
    }
    return (same.first ?? old.indices.first { old[$0].name == identifier }).map(Result.one) ?? .none
  }

  /// Whether a name and its identifier stay. A later name that is equal to the identifier alone is then a new one: what had it before
  /// has another name for good.
  private static func keeps(_ new: Name, _ old: Name) -> Bool {
    new.isRenamed && new.name == old.name && new.identifier == old.identifier
  }
}
