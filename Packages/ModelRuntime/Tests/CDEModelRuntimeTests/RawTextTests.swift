import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import Foundation
import Testing

/// More cases than are remembered, of texts of every length around the limits.
enum Shade: String, CaseIterable {
  case none = ""
  case a, b, ab, ba, abc, acb, cba
  case abcd, abdc, abcde, abced, abcdefg, abcdegf
  case abcdefgh, abcdefhg, hgfedcba, abcdefghi
  case sixteen = "0123456789abcdef"
  case otherSixteen = "0123456789abcdeF"
  case seventeen = "0123456789abcdefg"
  case umlaut = "ä"
  case many = "A text that is far too long to be looked up by its bytes"
}

/// The same texts for other cases.
enum Letter: String { case b, a }

@PersistentModel
final class Swatch: NSManagedObject {
  @Attribute(storageMethod: .raw) var shade: Shade = .none
  @Attribute(storageMethod: .raw) var former: Shade?
  @Attribute(storageMethod: .raw) var letter: Letter = .a
  var name: String = ""
}

extension Letter {
  /// Of the raw value's type, and equal to it for one case alone.
  var code: String { self == .a ? "a" : "code" }
}

@Suite("Raw values of texts that were read before")
struct RawTextTests {
  private func swatches(in stack: Stack) throws {
    let context = stack.context()
    for shade in Shade.allCases {
      let swatch = Swatch(context: context)
      swatch.shade = shade
      swatch.former = shade == .a ? nil : shade
      swatch.letter = shade == .b ? .b : .a
      swatch.name = shade.rawValue
    }
    try context.save()
  }

  @Test("Every case reads as itself, the first time, later, beside kept texts, and after a change")
  func everyCase() throws {
    let stack = try Stack([Swatch.self])
    try swatches(in: stack)
    for _ in 0..<3 {
      let context = stack.context()
      let all = try context.fetch(Swatch.fetchRequest())
      #expect(all.count == Shade.allCases.count)
      for _ in 0..<3 {
        for swatch in all {
          #expect(
            swatch.shade.rawValue == swatch.name && swatch.former == (swatch.name == "a" ? nil : swatch.shade)
          )
          #expect(swatch.letter.rawValue == (swatch.name == "b" ? "b" : "a"))
        }
      }
      for swatch in all {
        for shade in Shade.allCases {
          swatch.shade = shade
          #expect(swatch.shade == shade)
        }
        swatch.former = nil
        #expect(swatch.former == nil)
      }
      context.rollback()
      for swatch in all { #expect(swatch.shade.rawValue == swatch.name) }
    }
  }

  @Test("A default may be a case called none")
  func noneIsACase() throws {
    let stack = try Stack([Swatch.self])
    let context = stack.context()
    let swatch = Swatch(context: context)
    #expect(swatch.value(forKey: "shade") as? String == "" && swatch.shade == .none)
    try context.save()
  }

  @Test("Faults are read first, and a text of no case is the default, whatever was read before")
  func faultsAndStrangers() throws {
    let stack = try Stack([Swatch.self])
    try swatches(in: stack)
    let writer = stack.context()
    let reader = stack.context()
    let request = Swatch.fetchRequest()
    request.predicate = NSPredicate(format: "name == %@", "abc")
    let mine = try #require(try reader.fetch(request).first)
    #expect(mine.shade == .abc)
    let theirs = try #require(try writer.fetch(request).first)
    theirs.setValue("cab", forKey: "shade")
    #expect(theirs.shade == .none)
    try writer.save()
    reader.refresh(mine, mergeChanges: false)
    #expect(mine.isFault && mine.shade == .none && !mine.isFault)
    theirs.shade = .cba
    try writer.save()
    reader.refresh(mine, mergeChanges: false)
    #expect(mine.isFault && mine.shade == .cba && mine.letter == .a)
  }

  @Test("Contexts on many threads read the same texts at once")
  func manyThreads() async throws {
    let stack = try Stack([Swatch.self])
    try swatches(in: stack)
    await withTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        let context = stack.context()
        group.addTask {
          await context.perform {
            let all = (try? context.fetch(Swatch.fetchRequest())) ?? []
            return all.count { $0.shade.rawValue == $0.name }
          }
        }
      }
      for await count in group { #expect(count == Shade.allCases.count) }
    }
  }

  @Test("#Predicate over an enumeration's raw value finds the objects with this value")
  func predicates() throws {
    let stack = try Stack([Swatch.self])
    try swatches(in: stack)
    let context = stack.context()
    func count(_ predicate: Predicate<Swatch>) throws -> Int {
      try context.fetchCount(FetchDescriptor(predicate: predicate))
    }
    for shade in Shade.allCases {
      let text = shade.rawValue
      let found = try context.fetch(
        FetchDescriptor<Swatch>(predicate: #Predicate { $0.shade.rawValue == text }))
      #expect(found.map(\.shade) == [shade])
      #expect(try count(#Predicate { $0.former?.rawValue == text }) == (shade == .a ? 0 : 1))
    }
    let containing = Shade.allCases.filter { $0.rawValue.contains("abc") }.count
    #expect(try count(#Predicate { $0.shade.rawValue.contains("abc") }) == containing)
    #expect(try count(#Predicate { $0.letter.rawValue != "a" }) == 1)
    #expect(
      try PredicateTree(#Predicate<Swatch> { $0.letter.rawValue == "b" }).description == #"letter == "b""#)
    let error = #expect(throws: ManagedObjectError.self) { try count(#Predicate { $0.letter.code == "a" }) }
    #expect(error?.message.contains("the rawValue of an enumeration") == true)
  }
}
