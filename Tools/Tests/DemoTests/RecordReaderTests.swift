import Foundation
import Testing

@testable import demo

@Suite("Reading package records")
struct RecordReaderTests {
  /// Reads a text in pieces of a given size, as a stream might deliver it.
  private func read(_ bytes: [UInt8], piece: Int = 1 << 16) throws -> [ReadRecord] {
    var position = 0
    var reader = RecordReader {
      guard position < bytes.count else { return nil }
      defer { position += piece }
      return Data(bytes[position..<min(position + piece, bytes.count)])
    }
    var result: [ReadRecord] = []
    while let next = try reader.next() { result.append(next) }
    return result
  }

  private func read(_ text: String, piece: Int = 1 << 16) throws -> [ReadRecord] {
    try read(Array(text.utf8), piece: piece)
  }

  private func records(_ text: String) throws -> [PackageRecord] {
    try read(text).compactMap { if case .record(let record) = $0 { record } else { nil } }
  }

  private func malformed(_ text: String) throws -> [MalformedRecord] {
    try read(text).compactMap { if case .malformed(let record) = $0 { record } else { nil } }
  }

  @Test("Every field the index keeps comes out")
  func fields() throws {
    let record = try #require(
      try records(
        """
        Package: libfoo1
        Status: install ok installed
        Priority: optional
        Section: libs
        Installed-Size: 212
        Maintainer: Zoë Example <zoe@example.org>
        Architecture: amd64
        Multi-Arch: same
        Version: 1:2.3-4+b1
        Provides: libfoo, foo-abi (= 3)
        Pre-Depends: dpkg (>= 1.15.7.2)
        Depends: libc6 (>= 2.34) [amd64], python3:any | python2,
         libc6 (<< 3), dpkg
        Description: a library
         with a longer story: Depends: on nothing
         .
         at all
        Homepage: https://example.org


        """
      ).first)
    #expect(record.name == "libfoo1")
    #expect(record.key == "libfoo1 1:2.3-4+b1 amd64")
    #expect(record.section == "libs")
    #expect(record.maintainer == "Zoë Example <zoe@example.org>")
    #expect(record.summary == "a library")
    #expect(record.installedSize == 212)
    #expect(record.isInstalled)
    #expect(record.dependencies == ["dpkg", "libc6", "python3", "python2"])
    #expect(record.provides == ["libfoo", "foo-abi"])
  }

  @Test("The same records come out however the stream is cut", arguments: [1, 2, 3, 7, 64, 1000])
  func pieces(size: Int) throws {
    let text = """
      \n\nPackage: a\r
      Version: 1\r
      \r
      Package: b
      Version: 2
      Depends: a
       , c
      \t
      nonsense

      PACKAGE: d
      version: 3

      """
    let expected = try read(text)
    #expect(expected.count == 4)
    #expect(try read(text, piece: size) == expected)
    let names = expected.map { if case .record(let record) = $0 { record.name } else { "" } }
    #expect(names == ["a", "b", "", "d"])
  }

  @Test(
    "States of dpkg that count as installed, and those that don't",
    arguments: [
      ("install ok installed", true), ("hold ok installed", true), ("install ok triggers-pending", true),
      ("install ok triggers-awaited", true), ("deinstall ok config-files", false),
      ("install reinstreq half-installed", false), ("install ok unpacked", false),
    ])
  func states(status: String, isInstalled: Bool) throws {
    let found = try records("Package: a\nStatus: \(status)\nVersion: 1\n")
    #expect(found.map(\.isInstalled) == [isInstalled])
  }

  @Test("A name that dpkg only remembers is no record and no fault")
  func remembered() throws {
    #expect(try read("Package: a\nStatus: unknown ok not-installed\nPriority: extra\n").isEmpty)
  }

  @Test(
    "A malformed record is named with the line that is wrong",
    arguments: [
      ("Package: a\nVersion: 1\nwhat is this\n", 3, "a", "no field"),
      ("Version: 1\nSection: x\n", 1, nil, "no field Package"),
      ("\n\nPackage: a\nSection: x\n", 3, "a", "no field Version"),
      ("Package: a b\nVersion: 1\n", 1, nil, "no package name"),
      ("Package:\nVersion: 1\n", 1, nil, "no package name"),
      (" Package: a\nVersion: 1\n", 1, nil, "continuation"),
      ("Package: a\nVersion: 1\nVersion: 2\n", 3, "a", "twice"),
      ("Package: a\nVersion: 1 2\n", 2, "a", "no version"),
      ("Package: a\nVersion: 1\nInstalled-Size: many\n", 3, "a", "no size"),
      ("Package: a\nVersion: 1\nInstalled-Size: -1\n", 3, "a", "no size"),
      ("Package: a\nVersion: 1\nStatus: installed\n", 3, "a", "no status"),
      ("Package: a\nVersion: 1\nDepends: b, ${misc:Depends}\n", 3, "a", "no package"),
      ("Package: a\nVersion: 1\nDepends: b, (>= 2)\n", 3, "a", "no package"),
      ("Package: a\nVersion: 1", 2, "a", "ends within a line"),
    ])
  func malformedRecords(text: String, line: Int, name: String?, reason: String) throws {
    let found = try malformed(text)
    #expect(found.count == 1)
    #expect(found.first?.line == line)
    #expect(found.first?.name == name)
    #expect(found.first?.reason.contains(reason) == true, "\(found)")
    #expect(try records(text).isEmpty)
  }

  @Test("A malformed record does not take its neighbours with it")
  func neighbours() throws {
    let found = try records("Package: a\nVersion: 1\n\nPackage: b\n???\n\nPackage: c\nVersion: 1\n")
    #expect(found.map(\.name) == ["a", "c"])
  }

  @Test(
    "Bytes that are no text are malformed records, whatever the seed",
    arguments: 1...20 as ClosedRange<UInt64>)
  func noise(seed: UInt64) throws {
    var state = seed
    let bytes = (0..<5000).map { _ -> UInt8 in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 56)
    }
    let found = try read(bytes)
    #expect(!found.isEmpty)
    #expect(found.allSatisfy { if case .malformed = $0 { true } else { false } }, "seed \(seed)")
    #expect(try read(bytes, piece: 11) == found, "seed \(seed)")
  }

  @Test("An endless line costs no more than its limit and spoils one record")
  func endlessLine() throws {
    var left = 64
    let piece = Data(repeating: UInt8(ascii: "x"), count: 1 << 16)
    var lines = LineReader(lengthLimit: 1 << 18) {
      defer { left -= 1 }
      if left > 0 { return piece }
      return left == 0 ? Data("\nPackage: a\n".utf8) : nil
    }
    let long = try #require(try lines.next())
    #expect(long.isTooLong)
    #expect(long.number == 1)
    #expect(lines.buffer.count < 1 << 19)
    let next = try #require(try lines.next())
    #expect(lines.buffer[next.range].elementsEqual("Package: a".utf8))
    #expect(next.number == 2)
    #expect(try lines.next() == nil)
  }

  @Test("Text that is not UTF-8 is repaired, and names in it are refused")
  func latin1() throws {
    let maintainer = Array("Package: a\nVersion: 1\nMaintainer: Ren".utf8) + [0xE9, 0x0A]
    guard case .record(let record) = try read(maintainer).first else {
      Issue.record("no record")
      return
    }
    #expect(record.maintainer == "Ren\u{FFFD}")
    let name = Array("Package: caf".utf8) + [0xE9] + Array("\nVersion: 1\n".utf8)
    guard case .malformed = try read(name).first else {
      Issue.record("a name that is no text was accepted")
      return
    }
  }

  @Test("The digest tells records apart by any byte, and is the same in every process")
  func digest() throws {
    let first = try #require(try records("Package: a\nVersion: 1\nTag: x\n").first)
    let second = try #require(try records("Package: a\nVersion: 1\nTag: y\n").first)
    #expect(first.digest != second.digest)
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in "Package: a\nVersion: 1\nTag: x\n".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    #expect(first.digest == Int(truncatingIfNeeded: hash))
  }
}

@Suite("Dependency fields")
struct DependencyFieldTests {
  @Test(
    "Names are what is left without versions, architectures, alternatives and doubles",
    arguments: [
      ("", []), (" , ,", []), ("a", ["a"]), ("a,b , c", ["a", "b", "c"]), ("a|b | c", ["a", "b", "c"]),
      ("a(>=1)", ["a"]), ("a ( >= 1:2~3-4 )", ["a"]), ("a:any (= 1)", ["a"]), ("a [linux-any]", ["a"]),
      ("a <!nocheck>", ["a"]), ("g++, lib+x-1.0", ["g++", "lib+x-1.0"]), ("a, a, b, a", ["a", "b"]),
      ("a,\n b,\n\tc", ["a", "b", "c"]),
    ])
  func names(field: String, names: [String]) {
    #expect(DependencyField.names(in: field) == .success(names))
  }

  @Test("What is no name is given back", arguments: ["${x}", "a, -b", "a, (1)", "ä", "a, b/c"])
  func noNames(field: String) {
    guard case .failure(let item) = DependencyField.names(in: field) else {
      Issue.record("\(field) was accepted")
      return
    }
    #expect(field.hasSuffix(item.text))
  }
}
