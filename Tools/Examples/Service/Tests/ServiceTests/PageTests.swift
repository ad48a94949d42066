import CoreDataEvolution
import PackageModel
import Testing

@testable import ServiceKit

@Suite("Pages: filters, orders, links", .timeLimit(.minutes(5)))
struct PageTests {
  /// A version as a plain value.
  struct Row: Sendable {
    var key: String
    var package: String
    var section: String?
    var size: Int
    var isInstalled: Bool
    var dependencies: Set<String>
  }

  @Test(
    "Random queries find what a plain list has, in its order, over all pages", arguments: Engine.available)
  func random(_ engine: Engine) async throws {
    let seed =
      ProcessInfo.processInfo.environment["CDE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1 << 32)
    try await TestService.run(engine) { service in
      var random = SeededRandom(seed: seed)
      let rows = try await Self.fill(service, &random)
      for _ in 0..<60 {
        let (query, expected) = Self.query(rows, &random)
        var keys: [String] = []
        var next: String? = "/versions?\(query)&limit=\(Int.random(in: 1...40, using: &random))"
        while let address = next {
          let reply = try await service.send("GET", address)
          try #require(reply.status == 200, "\(address): \(String(decoding: reply.body, as: UTF8.self))")
          let json = try reply.json()
          keys += (json["items"] as? [[String: Any]] ?? []).compactMap { $0["key"] as? String }
          next = json["next"] as? String
          #expect(reply.headers["link"] == next.map { "<\($0)>; rel=\"next\"" })
        }
        #expect(keys == expected, "seed \(seed): \(query)")
      }
    }
  }

  /// Makes random versions, and remembers them.
  private static func fill(_ service: TestService, _ random: inout SeededRandom) async throws -> [Row] {
    let packages = ["a", "B", "b", "bash", "zsh", "Ä", "é", "z.z"]
    for name in packages { try await service.makePackage(name) }
    for name in ["libs", "net"] { try await service.send("POST", "/sections", [:], #"{"name":"\#(name)"}"#) }
    var rows: [Row] = []
    for number in 0..<60 {
      let package = packages.randomElement(using: &random)!
      let section = ["libs", "net", nil].randomElement(using: &random)!
      let row = Row(
        key: "\(package) \(number) amd64", package: package, section: section,
        size: Int.random(in: 0..<6, using: &random), isInstalled: Bool.random(using: &random),
        dependencies: Set((0..<2).compactMap { _ in packages.randomElement(using: &random) }))
      rows.append(row)
      let names = row.dependencies.map { "\"\($0)\"" }.joined(separator: ",")
      try await service.makeVersion(
        package, "\(number)",
        #","installedSize":\#(row.size),"isInstalled":\#(row.isInstalled),"dependencies":[\#(names)]"#
          + (section.map { #","section":"\#($0)""# } ?? ""))
    }
    return rows
  }

  /// A query, and the keys that it has to find.
  private static func query(_ rows: [Row], _ random: inout SeededRandom) -> (String, [String]) {
    var parts: [String] = []
    var found = rows
    let row = rows.randomElement(using: &random)!
    func add(_ name: String, _ value: String, _ isWanted: (Row) -> Bool) {
      parts.append("\(name)=\(value.escaped)")
      found = found.filter(isWanted)
    }
    // Texts are compared by their bytes.
    func less(_ left: String, _ right: String) -> Bool {
      Array(left.utf8).lexicographicallyPrecedes(Array(right.utf8))
    }
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      switch Int.random(in: 0..<10, using: &random) {
      case 0: add("installedSize", "\(row.size)") { $0.size == row.size }
      case 1: add("installedSize.ge", "\(row.size)") { $0.size >= row.size }
      case 2: add("installedSize.lt", "\(row.size)") { $0.size < row.size }
      case 3: add("isInstalled", "\(row.isInstalled)") { $0.isInstalled == row.isInstalled }
      case 4: add("package", row.package) { $0.package == row.package }
      case 5: add("section.ne", "libs") { $0.section != "libs" }
      case 6: add("key.gt", row.key) { less(row.key, $0.key) }
      case 7:
        add("key.begins", String(row.key.prefix(1))) { $0.key.utf8.starts(with: row.key.prefix(1).utf8) }
      case 8: add("dependencies", row.package) { $0.dependencies.contains(row.package) }
      default: add("package.in", "a,\(row.package)") { $0.package == "a" || $0.package == row.package }
      }
    }
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      parts.append("sort=installedSize")
      found.sort { $0.size != $1.size ? $0.size < $1.size : less($0.key, $1.key) }
    case 1:
      parts.append("sort=-installedSize")
      found.sort { $0.size != $1.size ? $0.size > $1.size : less($1.key, $0.key) }
    case 2:
      parts.append("sort=-key")
      found.sort { less($1.key, $0.key) }
    default: found.sort { less($0.key, $1.key) }
    }
    return (parts.joined(separator: "&"), found.map(\.key))
  }

  @Test(
    "What is added or removed between two pages neither repeats nor hides an object",
    arguments: Engine.available)
  func changes(_ engine: Engine) async throws {
    try await TestService.run(engine) { service in
      for name in ["b", "d", "f", "h"] { try await service.makePackage(name) }
      let first = try await service.send("GET", "/packages?limit=2").json()
      try await service.makePackage("a")
      try await service.makePackage("e")
      #expect(try await service.send("DELETE", "/packages/d", ["If-Match": "*"]).status == 204)
      let second = try await service.send("GET", try #require(first["next"] as? String)).json()
      let names = (second["items"] as? [[String: Any]])?.compactMap { $0["name"] as? String }
      #expect(names == ["e", "f"])
    }
  }

  @Test(
    "A query that is not understood is refused by 400 with what there is",
    arguments: [
      "colour=red", "digest=1", "package.name=a", "installedSize=many", "installedSize.like=1",
      "isInstalled=yes", "isInstalled.ne=true", "key.between=1", "limit=0", "limit=201", "limit=x",
      "sort=dependencies", "sort=package", "after=x", "name)%20OR%20(1=1",
      "package.in=" + String(repeating: "a,", count: 101), "summary=" + String(repeating: "a", count: 1_001),
      (0..<17).map { "installedSize.ge=\($0)" }.joined(separator: "&"),
    ])
  func refusals(_ query: String) async throws {
    try await TestService.run(.sqlite) { service in
      let reply = try await service.send("GET", "/versions?\(query)")
      #expect(reply.status == 400)
      #expect(try reply.json()["code"] as? String == "query")
    }
  }

  @Test("A link of another order is refused by 400")
  func cursors() async throws {
    try await TestService.run(.sqlite) { service in
      try await service.makePackage("a")
      try await service.makeVersion("a", "1")
      try await service.makeVersion("a", "2")
      let page = try await service.send("GET", "/versions?limit=1&sort=installedSize").json()
      let next = try #require(page["next"] as? String)
      #expect(try await service.send("GET", next).status == 200)
      #expect(try await service.send("GET", next.replacing("installedSize", with: "key")).status == 400)
      #expect(try await service.send("GET", next.replacing("installedSize", with: "summary")).status == 400)
    }
  }

  @Test("Values are bound, and conditions are made of constants")
  func predicates() throws {
    let filter = try Filter("section.begins", "x' OR '1'='1", of: Version.self)
    #expect(filter.predicate.canonicalFormat == #"section.name BEGINSWITH "x' OR '1'='1""#)
    let query = try PageQuery<Version>([
      (key: "dependencies", value: "libc6"), (key: "installedSize.in", value: "1,2"),
    ])
    let format = query.request.predicate?.canonicalFormat
    #expect(format == #"ANY dependencies.name == "libc6" AND installedSize IN {1, 2} AND key != nil"#)
  }
}
