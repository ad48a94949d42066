import CDEPredicates
import Foundation
import Testing

@Suite("Sort descriptors")
struct SortTests {
  private func sorted(_ objects: [Thing], _ descriptors: [NSSortDescriptor]) -> [Int] {
    objects.sorted { left, right in
      for descriptor in descriptors {
        let order = descriptor.compare(left, to: right)
        if order != .orderedSame { return order == .orderedAscending }
      }
      return false
    }.map(\.number)
  }

  @Test("Keys, direction and reversal read back")
  func properties() throws {
    let descriptor = NSSortDescriptor(key: "owner.name", ascending: false)
    #expect(descriptor.key == "owner.name" && !descriptor.ascending)
    let reversed = try #require(descriptor.reversedSortDescriptor as? NSSortDescriptor)
    #expect(reversed.key == "owner.name" && reversed.ascending)
    let term = try SortTerm(descriptor)
    #expect(term.keyPath == ["owner", "name"] && !term.ascending && term.comparator == nil)
    #expect(NSSortDescriptor(key: nil, ascending: true).key == nil)
    #expect(NSSortDescriptor(key: "a", ascending: true) == NSSortDescriptor(key: "a", ascending: true))
    #expect(NSSortDescriptor(key: "a", ascending: true) != NSSortDescriptor(key: "a", ascending: false))
    #expect(Set([descriptor, NSSortDescriptor(key: "owner.name", ascending: false)]).count == 1)
  }

  @Test("A typed descriptor becomes one with a key, or one for memory alone")
  func fromTyped() throws {
    let descriptor = NSSortDescriptor(SortDescriptor(\Note.rank, order: .reverse))
    #expect(descriptor.key == "rank" && !descriptor.ascending)
    let unnamed = NSSortDescriptor(SortDescriptor(\String.count, order: .reverse))
    #expect(unnamed.compare("a", to: "bcd") == .orderedDescending)
    #expect(unnamed.key == nil)
  }

  @Test("Nil comes first, several keys apply in order, text by bytes")
  func order() throws {
    let parent = Thing(100, ["name": "p"])
    let objects = [
      Thing(1, ["n": 2, "t": "b"]), Thing(2, ["t": "a"]), Thing(3, ["n": 2, "t": "B"], parent: parent),
      Thing(4, ["n": 1.5, "t": "é"]),
    ]
    #expect(
      sorted(objects, [NSSortDescriptor(key: "n", ascending: true), .init(key: "t", ascending: true)]) == [
        2, 4, 3, 1,
      ])
    #expect(
      sorted(objects, [NSSortDescriptor(key: "n", ascending: false), .init(key: "t", ascending: false)]) == [
        1, 3, 4, 2,
      ])
    #expect(sorted(objects, [NSSortDescriptor(key: "t", ascending: true)]) == [3, 2, 1, 4])
    #expect(sorted(objects, [NSSortDescriptor(key: "parent.name", ascending: false)]).first == 3)
    let folded = NSSortDescriptor(SortTerm(keyPath: ["t"], collation: .caseInsensitive))
    #expect(folded.compare(objects[0], to: objects[2]) == .orderedSame)
  }

  @Test("A comparator of one's own is applied to the values")
  func comparator() throws {
    let byLength = NSSortDescriptor(key: "t", ascending: false) { left, right in
      let (a, b) = ((left as? String)?.count ?? 0, (right as? String)?.count ?? 0)
      return a < b ? .orderedAscending : a == b ? .orderedSame : .orderedDescending
    }
    #expect(byLength.key == "t")
    #expect(try SortTerm(byLength).comparator != nil)
    #expect(
      sorted([Thing(1, ["t": "x"]), Thing(2, ["t": "xxx"]), Thing(3, ["t": "xx"])], [byLength]) == [2, 3, 1])
    #expect(byLength.comparator("aa", "b") == .orderedDescending)
  }

  @Test("Typed descriptors become terms through their type's names")
  func typed() throws {
    let term = try SortTerm(SortDescriptor(\Note.title, order: .reverse))
    #expect(term.key == "title_raw" && !term.ascending && term.collation == .binary)
    let swift = NSSortDescriptor(keyPath: \Note.rank, ascending: false)
    #expect(try SortTerm(swift).key == "rank" && swift.key == "rank")
    #expect(throws: PredicateTreeError.self) { try SortTerm(SortDescriptor(\String.count)) }
    #expect(throws: PredicateTreeError.self) { try SortTerm(SortDescriptor(\Note.computed)) }
    #expect(NSSortDescriptor(keyPath: \String.count, ascending: true).key == nil)
  }
}
