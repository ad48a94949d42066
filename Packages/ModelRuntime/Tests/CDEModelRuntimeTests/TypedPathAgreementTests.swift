import CDEModelRuntime
import CDEPredicates
import Foundation
import Testing

/// One random filter, and what it means in plain Swift.
private struct Filter {
  let predicate: NSPredicate
  let holds: (Memo) -> Bool
}

@Suite("Typed paths, executed")
struct TypedPathAgreementTests {
  private static let words = ["", "a", "Ä", "äb", "legacy", "LEGACY code", "Swift"]

  private static func fill(_ context: NSManagedObjectContext, _ random: inout SplitMix) throws {
    let shelves = (0..<2).map { index in
      let shelf = Shelf(context: context)
      shelf.code = words[index + 1]
      return shelf
    }
    let groups = (0..<4).map { index in
      let group = MemoGroup(context: context)
      group.name = words[index]
      if index > 0 { group.shelf = shelves[index % 2] }
      return group
    }
    let labels = (0..<6).map { index in
      let label = Label(context: context)
      label.name = words[index]
      label.score = index
      label.weight = index % 2 == 0 ? nil : Double(index)
      return label
    }
    for _ in 0..<40 {
      let memo = Memo(context: context)
      memo.title = words.randomElement(using: &random)!
      memo.score = Int.random(in: 0..<6, using: &random)
      memo.rating = Bool.random(using: &random) ? nil : Double(Int.random(in: 0..<6, using: &random))
      memo.group = Bool.random(using: &random) ? nil : groups.randomElement(using: &random)
      for label in labels where Int.random(in: 0..<3, using: &random) == 0 { memo.addToTags(label) }
    }
    try context.save()
  }

  private static func folded(_ text: String) -> String {
    text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
  }

  private static func contains(_ text: String, _ part: String) -> Bool {
    // Core Data's CONTAINS "" holds for no text, as NSString's range(of:) finds nothing.
    !part.isEmpty && folded(text).contains(folded(part))
  }

  private static func filter(_ random: inout SplitMix) -> Filter {
    let number = Int.random(in: 0..<6, using: &random)
    let word = words.dropFirst().randomElement(using: &random)!
    switch Int.random(in: 0..<17, using: &random) {
    case 0: return Filter(predicate: Memo.path.title.equals(word)) { $0.title == word }
    case 1: return Filter(predicate: Memo.path.title.notEquals(word)) { $0.title != word }
    case 2: return Filter(predicate: Memo.path.title.contains(word)) { contains($0.title, word) }
    case 3: return Filter(predicate: Memo.path.score.greaterThan(number)) { $0.score > number }
    case 4:
      return Filter(predicate: Memo.path.rating.lessThanOrEqual(number)) {
        $0.rating.map { $0 <= Double(number) } ?? false
      }
    case 5: return Filter(predicate: Memo.path.rating.equals(Double(number))) { $0.rating == Double(number) }
    case 6: return Filter(predicate: Memo.path.group.isNil()) { $0.group == nil }
    case 7: return Filter(predicate: Memo.path.group.isNotNil()) { $0.group != nil }
    case 8: return Filter(predicate: Memo.path.group.name.equals(word)) { $0.group?.name == word }
    case 9:
      return Filter(predicate: Memo.path.group.shelf.code.notEquals(word)) { $0.group?.shelf?.code != word }
    case 10:
      return Filter(predicate: Memo.path.tags.any.score.lessThan(number)) {
        $0.tags.contains { $0.score < number }
      }
    case 11:
      return Filter(predicate: Memo.path.tags.all.score.greaterThan(number)) {
        $0.tags.allSatisfy { $0.score > number }
      }
    case 12:
      return Filter(predicate: Memo.path.tags.none.name.contains(word)) {
        $0.tags.allSatisfy { !contains($0.name, word) }
      }
    case 13:
      return Filter(predicate: Memo.path.tags.all.weight.greaterThanOrEqual(Double(number))) {
        $0.tags.allSatisfy { $0.weight.map { $0 >= Double(number) } ?? false }
      }
    case 14:
      return Filter(predicate: Memo.path.tags.none.weight.notEquals(Double(number))) {
        $0.tags.allSatisfy { $0.weight == Double(number) }
      }
    case 15:
      let field = CDFilterField<Memo, Int>(swiftPath: ["score"], quantifier: .all)
      return Filter(predicate: field.lessThan(number)) { $0.score < number }
    default:
      let field = CDFilterField<Memo, String>(swiftPath: ["title"], quantifier: .all)
      return Filter(predicate: field.contains(word)) { contains($0.title, word) }
    }
  }

  @Test("The store, memory, plain Swift and the printed format agree", arguments: 0..<4)
  func agreement(round: UInt64) throws {
    let seed = UInt64.random(in: 0..<UInt64.max) &+ round
    print("typed path agreement: seed \(seed)")
    var random = SplitMix(state: seed)
    let context = try Stack(memoTypes).context()
    try Self.fill(context, &random)
    let all = try context.fetch(FetchDescriptor<Memo>())
    for _ in 0..<60 {
      var parts = (0..<Int.random(in: 1...3, using: &random)).map { _ in Self.filter(&random) }
      let first = parts.removeFirst()
      let predicate =
        parts.isEmpty
        ? first.predicate
        : NSCompoundPredicate(andPredicateWithSubpredicates: [first.predicate] + parts.map { $0.predicate })
      let wanted = Set(all.filter { memo in first.holds(memo) && parts.allSatisfy { $0.holds(memo) } })
      let format = predicate.canonicalFormat
      let stored = try context.fetch(FetchDescriptor<Memo>(predicate: predicate))
      #expect(Set(stored) == wanted, "stored: \(format), seed \(seed)")
      #expect(try Set(all.filter { try predicate.matches($0) }) == wanted, "memory: \(format), seed \(seed)")
      let parsed = NSPredicate(format: format)
      #expect(try parsed.predicateTree() == predicate.predicateTree(), "parsed: \(format), seed \(seed)")
    }
  }

  @Test(
    "A relationship equals an object by identity, in the store and in memory; nothing equals an unsaved one")
  func objects() throws {
    let context = try Stack(memoTypes).context()
    let groups = ["one", "two"].map { name in
      let group = MemoGroup(context: context)
      group.name = name
      return group
    }
    let memos = (0..<4).map { index in
      let memo = Memo(context: context)
      memo.group = index == 3 ? nil : groups[index % 2]
      return memo
    }
    try context.save()
    for (index, group) in groups.enumerated() {
      let predicate = Memo.path.group.equals(group)
      let wanted = Set(memos.enumerated().filter { $0.offset != 3 && $0.offset % 2 == index }.map(\.element))
      #expect(predicate.canonicalFormat.hasPrefix("memo_group == "))
      #expect(Set(try context.fetch(FetchDescriptor<Memo>(predicate: predicate))) == wanted)
      #expect(try Set(memos.filter { try predicate.matches($0) }) == wanted)
    }
    let unsaved = Memo.path.group.equals(MemoGroup(context: context))
    #expect(try context.fetch(FetchDescriptor<Memo>(predicate: unsaved)).isEmpty)
    #expect(try memos.allSatisfy { try !unsaved.matches($0) })
  }

  @Test("The formats of Core Data's own spelling are read the same")
  func spellings() throws {
    let pairs: [(String, NSPredicate)] = [
      ("SUBQUERY(labels, $e, NOT ($e.score > 80)).@count == 0", Memo.path.tags.all.score.greaterThan(80)),
      ("ANY labels.tag_name CONTAINS[cd] \"x\"", Memo.path.tags.any.name.contains("x")),
      (
        "SUBQUERY(labels, $e, $e.tag_name == \"Swift\").@count == 0",
        Memo.path.tags.none.name.equals("Swift")
      ),
    ]
    for (format, predicate) in pairs {
      #expect(try NSPredicate(format: format).predicateTree() == predicate.predicateTree(), "\(format)")
    }
    let negated = NSPredicate(format: "%K NOT CONTAINS[cd] %@", argumentArray: ["name", "x"])
    #expect(negated.canonicalFormat == "NOT name CONTAINS[cd] \"x\"")
  }

  @Test("Multi-key orders of paths sort in the store")
  func sorting() throws {
    let seed = UInt64.random(in: 0..<UInt64.max)
    print("typed path sorting: seed \(seed)")
    var random = SplitMix(state: seed)
    let context = try Stack(memoTypes).context()
    try Self.fill(context, &random)
    let memos = try context.fetch(
      FetchDescriptor<Memo>(
        sortBy: [
          try NSSortDescriptor(Memo.self, path: Memo.path.group.name, order: .asc),
          try NSSortDescriptor(Memo.self, path: Memo.path.score, order: .desc),
          try NSSortDescriptor(Memo.self, path: Memo.path.title, order: .asc),
        ]))
    #expect(memos.count == 40)
    for (a, b) in zip(memos, memos.dropFirst()) {
      let left = a.group.map { Array($0.name.utf8) } ?? []
      let right = b.group.map { Array($0.name.utf8) } ?? []
      if a.group == nil && b.group != nil { continue }
      #expect(!(a.group != nil && b.group == nil), "seed \(seed)")
      if left != right {
        #expect(left.lexicographicallyPrecedes(right), "seed \(seed)")
      } else if (a.group == nil) == (b.group == nil), a.score != b.score {
        #expect(a.score > b.score, "seed \(seed)")
      }
    }
  }
}
