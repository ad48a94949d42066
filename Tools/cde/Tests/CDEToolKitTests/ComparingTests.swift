@_spi(CDE) import CDESQLiteFaults
import CoreDataEvolution
import Foundation
import Testing

@testable import CDEToolKit

/// Changes a library by its app.
private func change(_ library: Library, _ body: (NSManagedObjectContext) throws -> Void) throws {
  try Library.write(at: library.url, body)
}

private func book(_ number: Int, _ context: NSManagedObjectContext) throws -> NSManagedObject {
  let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
  request.predicate = NSPredicate(format: "title == %@", "Volume \(number)")
  return try #require(try context.fetch(request).first)
}

@Suite("Comparing and checking")
struct ComparingTests {
  @Test("A store and its copy are the same, and each change of the copy is named")
  func diff() throws {
    let library = try Library()
    let other = try Library()
    defer {
      library.remove()
      other.remove()
    }
    let same = try StoreDifference(OpenedStore(library.place), OpenedStore(other.place)).answer()
    #expect(!same.hasFindings)
    try change(other) { context in
      try book(2, context).setValue(7, forKey: "pages")
      try book(3, context).setValue(nil, forKey: "owner")
      context.delete(try book(4, context))
      _ = Library.insert("Tag", ["name": "new"], context)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
      request.predicate = NSPredicate(format: "name == 'engines'")
      try book(5, context).setValue(NSSet(array: try context.fetch(request)), forKey: "tags")
    }
    let answer = try StoreDifference(OpenedStore(library.place), OpenedStore(other.place)).answer()
    #expect(answer.hasFindings)
    let lines = Set(text(answer, .csv).split(separator: "\r\n").map(String.init))
    let expected: Set = [
      "change,object,name,property,left,right", "removed,Book/p4,Volume 4,,,", "added,Tag/p2,new,,,",
      "changed,Book/p2,Volume 2,pages,200,7", "changed,Book/p3,Volume 3,owner,Person/p1,",
      "changed,Book/p5,Volume 5,tags,,Tag/p1",
      "changed,Tag/p1,engines,books,Book/p1,\"Book/p1, Book/p5\"",
    ]
    #expect(lines == expected)
    #expect(answer.note == "1 added, 1 removed, 4 changed.")
  }

  @Test("By a key, objects with other IDs are the same, and a key that is none is refused")
  func byKey() throws {
    let library = try Library()
    let other = try Library { context in
      // The same books in another order have other IDs.
      let ada = Library.insert("Person", ["firstName": "Ada", "lastName": "Byron"], context)
      for number in (1...3).reversed() {
        _ = Library.insert(
          "Book", ["title": "Volume \(number)", "pages": number * 100, "owner": ada], context)
        try context.save()
      }
    }
    defer {
      library.remove()
      other.remove()
    }
    var difference = StoreDifference(try OpenedStore(library.place), try OpenedStore(other.place))
    difference.keys = ["title", "Person.lastName"]
    let lines = text(try difference.answer(), .csv).split(separator: "\r\n").map(String.init)
    #expect(lines.contains("removed,Book[Volume 4],Volume 4,,,"))
    #expect(!lines.contains { $0.hasPrefix("added,Book") })
    #expect(!lines.contains { $0.contains(",owner,") })
    #expect(lines.contains("changed,Book[Volume 3],Volume 3,weight,0.75,"))
    difference.keys = ["isActive"]
    #expect(throws: Never.self) { try difference.answer() }
    difference.keys = ["nothing"]
    #expect(throws: ToolError.self) { try difference.answer() }
    try change(library) { _ = Library.insert("Book", ["title": "Volume 1"], $0) }
    difference = StoreDifference(try OpenedStore(library.place), try OpenedStore(other.place))
    difference.keys = ["Book.title"]
    let error = #expect(throws: ToolError.self) { try difference.answer() }
    #expect(error?.message.contains("twice") == true)
  }

  @Test("A healthy store has no findings, and checking changes nothing")
  func healthy() throws {
    let library = try Library()
    defer { library.remove() }
    let before = try library.contents()
    #expect(try StoreCheck(library.place).findings() == [])
    #expect(try library.contents() == before)
  }

  @Test("Planted damages are found, and a repair mends what it says and keeps a copy")
  func planted() throws {
    let library = try Library { context in
      try Library.fill(context)
      let large = try book(2, context)
      large.setValue(Data(repeating: 7, count: 1 << 20), forKey: "cover")
      let lost = try book(3, context)
      lost.setValue(Data(repeating: 8, count: 1 << 20), forKey: "cover")
    }
    defer { library.remove() }
    let pairs = try {
      let raw = try RawSQLite(library.url.path)
      let pairs = try #require(
        try raw.column("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'").first)
      try raw.run("INSERT INTO \(pairs) VALUES (901, 902)")
      try raw.run("UPDATE ZBOOK SET ZOWNER = 77 WHERE Z_PK IN (5, 6)")
      try raw.run("UPDATE ZBOOK SET ZTITLE = NULL WHERE Z_PK = 7")
      try raw.run("UPDATE Z_PRIMARYKEY SET Z_MAX = 10 WHERE Z_NAME = 'Book'")
      try raw.run("PRAGMA wal_checkpoint(TRUNCATE)")
      return pairs
    }()
    let folder = library.folder.appendingPathComponent(".Library_SUPPORT/_EXTERNAL_DATA")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(files.count == 2)
    try FileManager.default.removeItem(at: folder.appendingPathComponent(files[0]))
    try Data([1, 2, 3]).write(to: folder.appendingPathComponent("STRAY"))
    let before = try library.contents()
    let findings = try StoreCheck(library.place).findings()
    #expect(try library.contents() == before)
    let found = findings.map { "\($0.kind.rawValue) \($0.place) \($0.count)" }
    #expect(
      found == [
        "missing value Book.title 1", "dangling reference Book.owner 2", "low key count Book 2",
        "stray pair \(pairs) 1", "orphaned file STRAY 1",
        "missing file Book.cover 1",
      ])
    let answer = try StoreCheck(library.place).answer(repairs: true)
    #expect(answer.hasFindings)
    let left = try StoreCheck(library.place).findings().map(\.kind)
    #expect(left.contains(.missingValue) && left.contains(.missingFile))
    #expect(!left.contains(.danglingReference) && !left.contains(.orphanedFile) && !left.contains(.strayPair))
    let copies = try FileManager.default.contentsOfDirectory(atPath: library.folder.path).filter {
      $0.hasSuffix(".backup")
    }
    #expect(copies.count == 1)
    let copy = library.folder.appendingPathComponent(copies[0]).appendingPathComponent("Library.sqlite")
    #expect(try StoreCheck(.file(copy)).findings().contains { $0.kind == .danglingReference })
  }

  @Test("A file with damaged pages is one finding that names salvage, and salvage copies the rest")
  func damaged() throws {
    let library = try Library { context in
      for number in 0..<2000 {
        _ = Library.insert("Tag", ["name": "tag \(number) \(String(repeating: "x", count: 60))"], context)
      }
    }
    defer { library.remove() }
    var bytes = try Data(contentsOf: library.url)
    let middle = bytes.count / 2 / 4096 * 4096
    bytes.replaceSubrange(middle..<(middle + 8192), with: Data(repeating: 0xA5, count: 8192))
    try bytes.write(to: library.url)
    let findings = try StoreCheck(library.place).findings()
    #expect(!findings.isEmpty)
    #expect(findings.allSatisfy { $0.kind == .damagedFile && $0.detail.contains("salvage") })
    let rescued = library.folder.appendingPathComponent("Rescued.sqlite")
    let before = try Data(contentsOf: library.url)
    let report = try Salvage.answer(library.url, to: rescued)
    #expect(report.hasFindings)
    #expect(try Data(contentsOf: library.url) == before)
    let store = try OpenedStore(.file(rescued))
    let count = try store.count(try store.entity(named: "Tag"))
    #expect(count > 1000 && count <= 2000)
    #expect(try StoreCheck(.file(rescued)).findings() == [])
    #expect(throws: ToolError.self) { try Salvage.answer(library.url, to: rescued) }
  }
}
