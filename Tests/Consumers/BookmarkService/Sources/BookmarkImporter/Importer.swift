import BookmarkModels
import CDESwiftData
import Foundation

/// Imports lines of address, title and labels, with tabs between them, into a store in a file.
@main
struct Importer {
  static func main() async throws {
    guard CommandLine.arguments.count == 3 else {
      print("Usage: BookmarkImporter <store> <file>")
      exit(2)
    }
    let (store, source) = (CommandLine.arguments[1], CommandLine.arguments[2])
    let container = try ModelContainer(
      for: Schema(bookmarkTypes), configurations: ModelConfiguration(url: URL(fileURLWithPath: store)))
    let library = Library(modelContainer: container)
    var batch: [BookmarkValue] = []
    var wrong = 0
    for line in try String(contentsOfFile: source, encoding: .utf8).split(separator: "\n") {
      let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard parts.count >= 2, URL(string: parts[0])?.scheme != nil else {
        wrong += 1
        continue
      }
      batch.append(BookmarkValue(address: parts[0], title: parts[1], labels: Array(parts.dropFirst(2))))
      if batch.count == 1_000 {
        try await library.add(batch)
        batch = []
      }
    }
    try await library.add(batch)
    print("\(try await library.count()) bookmarks, \(wrong) lines without one")
  }
}
