import BookmarkModels
import CDEPostgreSQL
import CDESwiftData
import Foundation

/// Answers requests, one for each line, with JSON. Several processes on several machines may serve one store.
@main
struct Service {
  let container: ModelContainer

  /// A request has a context of its own, and so everything that other machines have saved before it. A context that is kept has
  /// registered models, which another machine's changes reach a moment later.
  private var library: Library { Library(modelContainer: container) }

  static func container(_ schema: String) throws -> ModelContainer {
    let environment = ProcessInfo.processInfo.environment
    guard let server = environment["CDE_POSTGRESQL_URL"].flatMap(URL.init(string:)) else {
      print("CDE_POSTGRESQL_URL names no server. The bookmarks are in memory.")
      return try ModelContainer(
        for: Schema(bookmarkTypes), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }
    return try ModelContainer(
      for: Schema(bookmarkTypes),
      configurations: ModelConfiguration(
        storeType: CDEPostgreSQLStoreType, url: server, options: [CDEPostgreSQLSchemaOption: schema]))
  }

  func answer(_ line: String) async throws -> String {
    let words = line.split(separator: " ").map(String.init)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    switch (words.first, words.count) {
    case ("add", 3...):
      try await library.add([
        BookmarkValue(address: words[1], title: words[2], labels: Array(words.dropFirst(3)))
      ])
      return "true"
    case ("search", 2):
      return String(decoding: try encoder.encode(try await library.search(words[1])), as: UTF8.self)
    case ("read", 2): return "\(try await library.read(words[1]))"
    case ("remove", 2): return "\(try await library.remove(words[1]))"
    case ("labels", 1): return String(decoding: try encoder.encode(try await library.labels()), as: UTF8.self)
    default:
      return
        #"{"error":"add <address> <title> <label>..., search <text>, read <address>, remove <address> or labels"}"#
    }
  }

  static func main() async throws {
    if CommandLine.arguments.count > 1 {
      let service = Service(container: try container(CommandLine.arguments[1]))
      while let line = readLine() {
        do { print(try await service.answer(line)) } catch { print(#"{"error":"\#(type(of: error))"}"#) }
      }
      return
    }
    try await check()
  }

  /// Without a name of a schema: two machines of one service, and what they answer.
  static func check() async throws {
    let schema = "bookmarks_\(ProcessInfo.processInfo.processIdentifier)"
    let first = try container(schema)
    let isShared = ProcessInfo.processInfo.environment["CDE_POSTGRESQL_URL"] != nil
    let second = isShared ? try container(schema) : first
    let services = [Service(container: first), Service(container: second)]
    let swift = #"[{"address":"https://swift.org","isRead":true,"labels":["code","news"],"title":"Swift"}]"#
    for (index, request, expected) in [
      (0, "add https://swift.org Swift code news", "true"), (1, "add https://gnu.org Gnu code", "true"),
      (1, "read https://swift.org", "true"), (0, "search news", swift), (0, "search swift", swift),
      (0, "remove https://swift.org", "true"), (1, "remove https://swift.org", "false"),
      (1, "labels", #"["code"]"#),
    ] {
      let answer = try await services[index].answer(request)
      guard answer == expected else {
        fatalError("\(request) was answered by \(answer), and not by \(expected).")
      }
    }
    print("Both machines have answered.")
  }
}
