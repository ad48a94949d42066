import ArgumentParser
import CoreDataEvolution
import PackageModel

@main
struct Demo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Indexes this machine's package database and answers questions about it.",
    discussion: """
      Reads /var/lib/dpkg/status and apt's package lists, plain or compressed; on systems without \
      them a sample that comes with the program. The index is a Core Data store: a second run writes \
      only what has changed.

      A dependency is a name in Depends or Pre-Depends; of alternatives (a | b) each counts. Records \
      that can't be understood are left out and named.
      """)

  @Option(
    help: "Where the index lies: a file, or a PostgreSQL server's postgresql://ROLE@HOST/DATABASE.",
    completion: .file())
  var store: String?

  @Option(help: "Read at most this many records; nothing is removed then.")
  var limit: Int?

  @Option(
    help: "A file of installed packages to read instead of this machine's, in dpkg's format.",
    completion: .file())
  var status: String?

  @Option(
    parsing: .upToNextOption,
    help: "Files of available packages to read instead of this machine's, as apt keeps them.",
    completion: .file())
  var lists: [String] = []

  @Option(
    parsing: .upToNextOption,
    help: "Print the shortest dependency path between two packages, and nothing else: FROM TO.")
  var path: [String] = []

  @Flag(help: "Index nothing; show the runs of other processes on the index as they go, until Ctrl-C.")
  var watch = false

  @Flag(help: "Then show the index in a browser of this machine, by cde studio, until Ctrl-C.")
  var studio = false

  func validate() throws {
    if watch, studio || limit != nil || status != nil || !lists.isEmpty || !path.isEmpty {
      throw ValidationError("--watch goes with --store alone.")
    }
    if let store, IndexPlace(store) == nil { throw ValidationError("\(store) is no URL of a server.") }
    if let limit, limit < 1 { throw ValidationError("--limit takes a number from 1.") }
    if !path.isEmpty, path.count != 2 { throw ValidationError("--path takes two packages: --path FROM TO.") }
    for file in (status.map { [$0] } ?? []) + lists {
      var isFolder = ObjCBool(false)
      guard FileManager.default.fileExists(atPath: file, isDirectory: &isFolder) else {
        throw ValidationError("There is no file \(file).")
      }
      if isFolder.boolValue { throw ValidationError("\(file) is a folder; give the file of records in it.") }
    }
  }

  func run() async throws { try await report() }

  /// What is asked for, else this machine's databases, else the sample.
  private var sources: [PackageSource] {
    let given = (status.map { [$0] } ?? []) + lists
    if !given.isEmpty { return given.map(PackageSource.init(path:)) }
    let found = PackageSource.onThisMachine()
    return found.isEmpty ? PackageSource.sample.map { [$0] } ?? [] : found
  }

  @MainActor
  private func report() async throws {
    do {
      let session = try Session(store: store.flatMap(IndexPlace.init) ?? .standard)
      if watch { return try await session.watch() }
      try await session.run(sources, limit: limit, path: path.isEmpty ? nil : (path[0], path[1]))
      if studio { try Browsing.become(store.flatMap(IndexPlace.init) ?? .standard, store) }
    } catch let stopped as Stopped {
      FileHandle.standardError.write(Data("\(stopped.text)\n".utf8))
      throw ExitCode(Stopped.status)
    } catch {
      FileHandle.standardError.write(Data("demo: \(error)\n".utf8))
      throw ExitCode.failure
    }
  }
}
