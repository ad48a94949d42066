import CDEPredicates
import Foundation
import Testing

enum Status: String, Codable, Sendable { case open, done }

/// Stands for a generated model: names its key paths and gives its values by those names.
final class Note: PredicateKeyPathNaming, PredicateValueProviding, Equatable {
  var title: String
  var subtitle: String?
  var rank: Int
  var score: Double?
  var flag: Bool
  var status: Status
  var parent: Note?
  var notes: [Note]
  var computed: Int { rank }

  static func == (left: Note, right: Note) -> Bool { left === right }

  init(
    title: String = "", subtitle: String? = nil, rank: Int = 0, score: Double? = nil, flag: Bool = false,
    status: Status = .open, parent: Note? = nil, notes: [Note] = []
  ) {
    (self.title, self.subtitle, self.rank, self.score) = (title, subtitle, rank, score)
    (self.flag, self.status, self.parent, self.notes) = (flag, status, parent, notes)
  }

  static func predicateKey(for keyPath: AnyKeyPath) -> String? {
    switch keyPath {
    case \Note.title: "title_raw"
    case \Note.subtitle: "subtitle"
    case \Note.rank: "rank"
    case \Note.score: "score"
    case \Note.flag: "flag"
    case \Note.status: "status"
    case \Note.parent: "parent"
    case \Note.notes: "notes"
    default: nil
    }
  }

  func predicateValue(forKey key: String) throws -> PredicateValue {
    switch key {
    case "title_raw": try PredicateValue(title)
    case "subtitle": try PredicateValue(subtitle)
    case "rank": try PredicateValue(rank)
    case "score": try PredicateValue(score)
    case "flag": try PredicateValue(flag)
    case "status": try PredicateValue(status.rawValue)
    case "parent": parent.map { .object($0) } ?? .null
    default: .collection(notes.map { .object($0) })
    }
  }
}

@Suite("#Predicate")
struct ConversionTests {
  private var notes: [Note] {
    let leaf = Note(title: "Leaf", subtitle: "été", rank: 3, score: 1.5, flag: true, status: .done)
    let other = Note(title: "other", rank: -1, flag: true)
    let middle = Note(title: "Middle", subtitle: "", rank: 10, score: 2, parent: leaf, notes: [leaf, other])
    return [
      leaf, other, middle,
      Note(title: "", subtitle: "x", rank: 4, flag: false, parent: middle, notes: [middle]),
    ]
  }

  /// Foundation's own evaluation is the model that the translated tree has to agree with.
  private func check(
    _ predicate: Predicate<Note>, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let tree = try PredicateTree(predicate)
    #expect(tree.predicateFormat == expected, sourceLocation: sourceLocation)
    for note in notes {
      #expect(
        try tree.evaluate(with: note) == predicate.evaluate(note), "with \(note.title)",
        sourceLocation: sourceLocation)
    }
    #expect(NSPredicate(predicate) != nil, sourceLocation: sourceLocation)
  }

  @Test("Comparisons and logic")
  func comparisons() throws {
    let low = 3
    try check(#Predicate { $0.rank == 3 }, "rank == 3")
    try check(#Predicate { $0.rank != low && $0.flag }, "rank != 3 AND flag == 1")
    try check(
      #Predicate { $0.rank < 3 || !($0.rank >= 4) || $0.flag }, "rank < 3 OR NOT rank >= 4 OR flag == 1")
    try check(#Predicate { $0.flag == false }, "flag == 0")
    try check(#Predicate { ($0.rank > 3) == true }, "rank > 3")
    try check(
      #Predicate { ($0.rank > 3) != $0.flag },
      "NOT (flag != nil AND ((rank > 3 AND flag == 1) OR (NOT rank > 3 AND NOT flag == 1)))")
    try check(#Predicate { _ in true }, "TRUEPREDICATE")
    try check(#Predicate { $0.score == nil }, "score == nil")
    try check(#Predicate { $0.score != 2 }, "score != 2.0")
    try check(#Predicate { $0.score ?? 0 > 1.75 }, "coalesce(score, 0.0) > 1.75")
  }

  @Test("Ranges and lists")
  func ranges() throws {
    let range = 3..<10
    let list = [3, 4]
    try check(#Predicate { (3...4).contains($0.rank) }, "rank BETWEEN {3, 4}")
    try check(#Predicate { (3..<10).contains($0.rank) }, "rank >= 3 AND rank < 10")
    try check(#Predicate { range.contains($0.rank) }, "rank >= 3 AND rank < 10")
    try check(#Predicate { list.contains($0.rank) }, "rank IN {3, 4}")
    try check(#Predicate { !list.contains($0.rank) }, "NOT rank IN {3, 4}")
  }

  private struct Filter: Codable, Sendable {
    var least = 3
    var most: Int?
    var title = "Leaf"
    var ranks = 3..<10
    var half: Double { Double(least) / 2 }
  }

  @Test("Parts that depend on nothing but captured values are constants")
  func capturedParts() throws {
    let filter = Filter()
    let none: Filter? = nil
    let (limits, named) = ([3, 4], ["low": 3])
    try check(#Predicate { $0.rank > filter.least }, "rank > 3")
    try check(#Predicate { $0.rank < filter.most ?? 4 }, "rank < 4")
    try check(#Predicate { $0.rank == none?.least ?? 10 }, "rank == 10")
    try check(#Predicate { $0.score == none?.half }, "score == nil")
    try check(#Predicate { $0.title == filter.title && $0.rank > 0 }, "title_raw == \"Leaf\" AND rank > 0")
    try check(#Predicate { $0.score ?? 0 > filter.half }, "coalesce(score, 0.0) > 1.5")
    try check(#Predicate { filter.ranks.contains($0.rank) }, "rank >= 3 AND rank < 10")
    try check(#Predicate { filter.title.isEmpty || $0.flag }, "\"Leaf\" == \"\" OR flag == 1")
    try check(#Predicate { $0.rank == limits[1] || $0.rank == limits.first! }, "rank == 4 OR rank == 3")
    try check(
      #Predicate { $0.rank == named["low"]! || $0.rank == named["high", default: 10] },
      "rank == 3 OR rank == 10")
    try check(#Predicate { $0.rank == filter.title.count - 1 }, "rank == 4 - 1")
    #expect(throws: PredicateTreeError.self) { try PredicateTree(#Predicate<Note> { $0.rank == limits[2] }) }
  }

  @Test("The condition stands once for each member of a captured list")
  func capturedLists() throws {
    let (words, ranks, none) = (["Le", "th"], [3, 4], [Int]())
    let statuses = [Status.done]
    try check(
      #Predicate { note in words.contains { word in note.title.contains(word) } },
      "title_raw CONTAINS \"Le\" OR title_raw CONTAINS \"th\"")
    try check(
      #Predicate { note in ranks.allSatisfy { $0 <= note.rank } && note.flag },
      "3 <= rank AND 4 <= rank AND flag == 1")
    try check(
      #Predicate { note in ranks.contains { rank in note.notes.contains { $0.rank == rank } } },
      "SUBQUERY(notes, $x0, $x0.rank == 3).@count > 0 OR SUBQUERY(notes, $x1, $x1.rank == 4).@count > 0")
    try check(#Predicate { note in statuses.contains { $0 == note.status } }, "\"done\" == status")
    try check(#Predicate { note in none.contains { $0 == note.rank } }, "FALSEPREDICATE")
    try check(#Predicate { note in none.allSatisfy { $0 == note.rank } }, "TRUEPREDICATE")
  }

  @Test("Optional chaining")
  func optionals() throws {
    try check(#Predicate { $0.parent?.rank == 10 }, "parent.rank == 10")
    try check(#Predicate { $0.parent?.title == nil }, "parent.title_raw == nil")
    try check(#Predicate { $0.parent?.parent?.title == "Leaf" }, "parent.parent.title_raw == \"Leaf\"")
    try check(
      #Predicate { $0.subtitle?.contains("x") ?? false }, "subtitle != nil AND subtitle CONTAINS \"x\"")
    try check(#Predicate { $0.subtitle?.isEmpty == false }, "subtitle != nil AND NOT subtitle == \"\"")
    try check(#Predicate { $0.subtitle?.isEmpty != true }, "NOT (subtitle != nil AND subtitle == \"\")")
    try check(
      #Predicate { $0.subtitle.flatMap { $0.starts(with: "x") } == true },
      "subtitle != nil AND subtitle BEGINSWITH \"x\"")
    try check(#Predicate { $0.parent?.flag ?? false }, "parent.flag == 1")
    try check(
      #Predicate { $0.parent?.notes.contains { $0.flag } ?? true },
      "(parent != nil AND SUBQUERY(parent.notes, $x0, $x0.flag == 1).@count > 0)"
        + " OR (NOT parent != nil AND TRUEPREDICATE)"
    )
    try check(#Predicate { $0.parent != nil && $0.parent!.rank == 10 }, "parent != nil AND parent.rank == 10")
  }

  @Test("Text")
  func text() throws {
    try check(#Predicate { $0.title.contains("ea") }, "title_raw CONTAINS \"ea\"")
    try check(#Predicate { $0.title.starts(with: "M") }, "title_raw BEGINSWITH \"M\"")
    try check(#Predicate { $0.title.isEmpty }, "title_raw == \"\"")
    try check(#Predicate { $0.title.localizedStandardContains("LÉAF") }, "title_raw CONTAINS[cd] \"LÉAF\"")
    let same = ComparisonResult.orderedSame
    try check(#Predicate { $0.title.caseInsensitiveCompare("OTHER") == same }, "title_raw ==[c] \"OTHER\"")
  }

  @Test("Collections")
  func collections() throws {
    try check(
      #Predicate { $0.notes.contains { $0.rank > 3 } }, "SUBQUERY(notes, $x0, $x0.rank > 3).@count > 0")
    try check(
      #Predicate { $0.notes.allSatisfy { $0.flag } }, "SUBQUERY(notes, $x0, NOT $x0.flag == 1).@count == 0")
    try check(
      #Predicate { $0.notes.filter { $0.flag }.count == 2 }, "SUBQUERY(notes, $x0, $x0.flag == 1).@count == 2"
    )
    try check(#Predicate { $0.notes.isEmpty }, "notes.@count == 0")
    try check(#Predicate { $0.notes.count > 1 }, "notes.@count > 1")
    try check(
      #Predicate { note in note.notes.contains { inner in inner.rank > note.rank } },
      "SUBQUERY(notes, $x0, $x0.rank > rank).@count > 0")
  }

  @Test("Arithmetic and conditions")
  func arithmetic() throws {
    try check(#Predicate { $0.rank * 2 + 1 == 7 }, "(rank * 2) + 1 == 7")
    try check(
      #Predicate { $0.rank % 2 == 0 && $0.rank / 2 == 2 }, "modulus:by:(rank, 2) == 0 AND rank / 2 == 2")
    try check(#Predicate { -$0.rank < -3 }, "-(rank) < -3")
    try check(#Predicate { ($0.flag ? $0.rank : 0) == 3 }, "TERNARY(flag == 1, rank, 0) == 3")
    try check(
      #Predicate { $0.flag ? $0.rank > 0 : $0.rank < 5 },
      "(flag == 1 AND rank > 0) OR (NOT flag == 1 AND rank < 5)")
  }

  @Test("Enumerations compare by their raw values")
  func enumerations() throws {
    let done = Status.done
    let all = [Status.done]
    try check(#Predicate { $0.status == done }, "status == \"done\"")
    try check(#Predicate { all.contains($0.status) }, "status IN {\"done\"}")
  }

  @Test("What has no translation is named")
  func unsupported() throws {
    func error(_ predicate: Predicate<Note>) -> PredicateTreeError? {
      do {
        _ = try PredicateTree(predicate)
        return nil
      } catch { return error }
    }
    // Generic, or the compiler warns that the cast always succeeds.
    func cast<T: Equatable & Sendable>(to type: T.Type) -> Predicate<Note> {
      #Predicate { ($0.rank as? T) != nil }
    }
    let unnamed = error(#Predicate { $0.computed == 1 })
    #expect(unnamed?.code == .unnamedKeyPath && unnamed?.construct == "Note")
    #expect(error(cast(to: Int.self))?.construct == "ConditionalCast")
    #expect(error(#Predicate { $0.notes[0].rank == 1 })?.construct == "CollectionIndexSubscript")
    #expect(error(#Predicate { $0.notes.first != nil })?.construct == "first")
    #expect(error(#Predicate { $0.title.count == 1 })?.construct == "count")
    let dictionary = [1: 2]
    #expect(error(#Predicate { dictionary[$0.rank] == 2 })?.construct == "DictionaryKeySubscript")
    #expect(NSPredicate(#Predicate<Note> { $0.computed == 1 }) == nil)
  }
}
