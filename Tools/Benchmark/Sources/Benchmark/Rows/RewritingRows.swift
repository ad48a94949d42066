import Foundation

/// Rows rewrite-all and rewrite-one: what the plug-in's tool, already built, spends on the sources of a target.
@MainActor
final class RewritingRows {
  /// Of a hundred files, how many have work for the tool.
  private static let affectedShare = 25
  private static let linesOfAFile = 200

  private let folder: URL
  private let count: Int
  private let tool: URL

  /// Writes the sources, and builds the tool.
  init(_ workspace: Workspace) throws {
    folder = workspace.folder.appendingPathComponent("Rewriting")
    // 100,000 lines.
    count = workspace.isSmoke ? 20 : 500
    tool = try Self.built(isOptimised: !workspace.isSmoke)
    let sources = folder.appendingPathComponent("Sources")
    try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
    for number in 0..<count { try Data(Self.source(number).utf8).write(to: file(number)) }
  }

  private func file(_ number: Int) -> URL { folder.appendingPathComponent("Sources/File\(number).swift") }

  /// All files, none of which were rewritten before.
  var all: [Contender] {
    [
      Contender(.ours) {
        try? FileManager.default.removeItem(at: self.output)
        return try self.run() / 1e9
      }
    ]
  }

  /// One file with work whose body was edited; the others are as at the last run.
  func one() throws -> [Contender] {
    _ = try run()
    var edits = 0
    return [
      Contender(.ours) {
        edits += 1
        try Data("\(Self.source(0))// Edit \(edits) of \(UUID())\n".utf8).write(to: self.file(0))
        return try self.run() / 1e6
      }
    ]
  }

  private var output: URL { folder.appendingPathComponent("Output") }

  /// Calls the tool as the plug-in does.
  private func run() throws -> Double {
    var arguments = [
      "build", "--module", "Model", "--state", output.appendingPathComponent("state.json").path, "--table",
      output.appendingPathComponent("Classes.swift").path,
    ]
    for number in 0..<count {
      arguments += [
        "--file", file(number).path, output.appendingPathComponent("File\(number)+linux.swift").path,
      ]
    }
    try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
    let process = Process()
    process.executableURL = tool
    process.arguments = arguments
    process.standardOutput = FileHandle.standardError
    // Foundation's waitUntilExit looks every 50 ms on Linux.
    let end = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in end.signal() }
    let time = try nanoseconds {
      try process.run()
      end.wait()
    }
    guard process.terminationStatus == 0 else {
      throw MemoryRow.Failure(description: "The tool failed for the sources in \(folder.path).")
    }
    return time
  }

  /// The tool of this package. In the smoke size it is the one that the project's own build has made.
  private static func built(isOptimised: Bool) throws -> URL {
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let scratch = root.appendingPathComponent(
      isOptimised ? "Tools/Benchmark/.build/coredata-sources" : ".build"
    ).path
    let kind = isOptimised ? "release" : "debug"
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "swift", "build", "--package-path", root.path, "--scratch-path", scratch, "-c", kind, "--product",
      "coredata-sources-build",
    ]
    process.standardOutput = FileHandle.standardError
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw MemoryRow.Failure(description: "The tool coredata-sources-build at \(root.path) does not build.")
    }
    return URL(fileURLWithPath: "\(scratch)/\(kind)/coredata-sources-build")
  }

  // MARK: Sources

  /// A file of some types. Of four files, one has a managed class and other work.
  private static func source(_ number: Int) -> String {
    let isAffected = number * affectedShare % 100 < affectedShare
    var text = isAffected ? managed(number) : "import Foundation\n\n"
    var part = 0
    while text.utf8.count(where: { $0 == UInt8(ascii: "\n") }) < linesOfAFile {
      text += plain("Part\(number)x\(part)")
      part += 1
    }
    return text
  }

  private static func managed(_ number: Int) -> String {
    let types = ["String", "Int64", "Date?", "Bool", "NSNumber?", "Data?"]
    // With its type, because GRDB has strings of its own.
    var properties: String = ""
    for index in 0..<12 {
      properties += "  @NSManaged public var value\(index): \(types[index % types.count])\n"
    }
    return """
      import CoreData
      import Foundation

      @objc(Entity\(number))
      public class Entity\(number): NSManagedObject {
      \(properties)  @NSManaged public var members: Set<Entity\(number)>?
        @NSManaged public var owner: Entity\(number)?

        @objc public dynamic var title: String { value0.capitalized }

        @objc class func keyPathsForValuesAffectingTitle() -> Set<String> { [#keyPath(Entity\(number).value0)] }

        @nonobjc public class func fetchRequest() -> NSFetchRequest<Entity\(number)> {
          NSFetchRequest<Entity\(number)>(entityName: "Entity\(number)")
        }
      }

      extension Entity\(number) {
        @objc(addMembersObject:)
        @NSManaged public func addToMembers(_ value: Entity\(number))

        func sorted() -> [NSSortDescriptor] {
          [NSSortDescriptor(key: #keyPath(Entity\(number).value1), ascending: true)]
        }
      }


      """
  }

  private static func plain(_ name: String) -> String {
    """
    struct \(name): Equatable, Sendable {
      enum State: String, CaseIterable { case idle, running, failed }
      var state = State.idle
      var names: [String] = []
      private var counts: [String: Int] = [:]

      /// Counts a name, and says whether it is new.
      mutating func add(_ name: String) -> Bool {
        guard !name.isEmpty else { return false }
        names.append(name)
        counts[name, default: 0] += 1
        return counts[name] == 1
      }

      func summary(limit: Int = 10) -> String {
        let lines = counts.sorted { $0.value > $1.value }.prefix(limit).map { entry in
          "\\(entry.key): \\(entry.value) of \\(names.count)"
        }
        return lines.joined(separator: ", ")
      }
    }


    """
  }
}
