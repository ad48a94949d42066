public import Foundation
internal import Synchronization

/// Rewrites the files of one target, and only those whose content or surroundings changed since the last run.
public struct TargetRewriting {
  /// A file of the target, and where its result goes.
  public struct File: Sendable {
    /// The original.
    public let source: String
    /// The result, which the compiler gets.
    public let output: String

    /// A pair of an original and its result.
    public init(source: String, output: String) { (self.source, self.output) = (source, output) }
  }

  /// What a run did.
  public struct Report: Sendable {
    /// Messages by path of the original, as compilers print them.
    public var messages: [String] = []
    /// Whether one of the messages is an error.
    public var hasErrors = false
    /// The number of files parsed, and of outputs written.
    public var parsed = 0
    /// The number of outputs whose content is new.
    public var written = 0
  }

  /// What is remembered of a file between runs.
  private struct Entry: Codable, Equatable {
    var size: Int
    var time: Double
    /// Facts for the index; nil for a file that needs no rewriting.
    var facts: FileFacts?
  }

  private struct State: Codable {
    /// Two builds of the tool may rewrite differently.
    var tool = ""
    var files: [String: Entry] = [:]
  }

  private let files: [File]
  private let stateFile: URL?
  private let table: String?
  private let generated: [(source: String, output: String, text: String)]
  private let keepsLocations: Bool
  private let modules: Set<String>
  private let replacements: [String: String]
  private let isOnMainActor: Bool
  private let importsMembers: Bool

  /// The files of a target.
  ///
  /// - Parameters:
  ///   - files: the originals and their outputs.
  ///   - generated: sources made from models, which are rewritten along with the others: a name for messages, the
  ///     output, and the text.
  ///   - table: the output for the list of managed classes; nil leaves it out.
  ///   - stateFile: where facts are kept between runs; nil rewrites everything.
  ///   - keepsLocations: whether the compiler is to report places in the originals.
  ///   - modules: the replacements of Apple's modules that the target depends on.
  ///   - replacements: modules of Apple's platforms that Linux lacks, and others with the same interface.
  ///   - isOnMainActor: whether the target's declarations are isolated to the main actor by default.
  ///   - importsMembers: whether members are visible only where their own module is imported.
  public init(
    _ files: [File], generated: [(source: String, output: String, text: String)] = [], table: String? = nil,
    stateFile: URL? = nil, keepsLocations: Bool = true, modules: Set<String> = SourceIndex.allModules,
    replacements: [String: String] = [:], isOnMainActor: Bool = false, importsMembers: Bool = false
  ) {
    self.files = files
    self.generated = generated
    self.table = table
    self.stateFile = stateFile
    self.keepsLocations = keepsLocations
    self.modules = modules
    self.replacements = replacements
    self.isOnMainActor = isOnMainActor
    self.importsMembers = importsMembers
  }

  /// A file on its way through a run.
  private struct Work {
    var source: String
    var output: String
    var bytes: [UInt8]?
    var entry: Entry
    var parsed: SourceRewriter.Parsed?
    var isChanged: Bool
  }

  /// Rewrites what changed.
  ///
  /// - Returns: messages and counts.
  /// - Throws: an error of the file system. Messages about sources are no errors of this function.
  public func run() throws -> Report {
    var state = State()
    if let stateFile, let data = try? Data(contentsOf: stateFile),
      let known = try? JSONDecoder().decode(State.self, from: data), known.tool == stamp
    {
      state = known
    }
    var report = Report()
    let old = state
    var work = try concurrently(files.count) { try load(files[$0], old.files[files[$0].source]) }
    for text in generated {
      let parsed = SourceRewriter.Parsed(Array(text.text.utf8))
      work.append(
        Work(
          source: text.source, output: text.output, bytes: Array(text.text.utf8),
          entry: Entry(size: text.text.utf8.count, time: 0, facts: parsed.facts), parsed: parsed,
          isChanged: true))
    }
    let index = SourceIndex(
      work.compactMap(\.entry.facts), modules: modules, replacements: replacements,
      isOnMainActor: isOnMainActor,
      importsMembers: importsMembers)
    let isIndexChanged =
      Set(old.files.keys) != Set(files.map(\.source))
      || zip(files, work).contains { $1.entry.facts != old.files[$0.source]?.facts }
    let rewriter = SourceRewriter(index: index)
    let pending = work
    let results = try concurrently(pending.count) { number -> (SourceRewriter.Result, parsed: Bool)? in
      let item = pending[number]
      let isAffected = item.entry.facts != nil
      guard item.isChanged || isIndexChanged || !FileManager.default.fileExists(atPath: item.output) else {
        return nil
      }
      let bytes = try item.bytes ?? Self.read(item.source)
      // An optional requirement declared in another file may have made this one affected.
      guard isAffected || isIndexChanged && SourceRewriter.isAffected(bytes, by: index) else {
        return (SourceRewriter.Result(bytes: bytes, messages: []), false)
      }
      return (rewriter.rewrite(item.parsed ?? SourceRewriter.Parsed(bytes)), true)
    }
    for (item, result) in zip(work, results) {
      state.files[item.source] = item.entry
      guard let (result, parsed) = result else { continue }
      report.parsed += parsed ? 1 : 0
      report.messages += result.messages.map { $0.printed(file: item.source) }
      if result.messages.contains(where: { $0.severity == .error }) {
        report.hasErrors = true
        // The next run reports it again.
        state.files[item.source] = nil
      }
      if try write(located(result.bytes, item.source), to: item.output) { report.written += 1 }
    }
    if let table, try write(Array(index.classTable().utf8), to: table) { report.written += 1 }
    let current = Set(files.map(\.source))
    state.files = state.files.filter { current.contains($0.key) }
    state.tool = stamp
    if let stateFile {
      try FileManager.default.createDirectory(
        at: stateFile.deletingLastPathComponent(), withIntermediateDirectories: true)
      try JSONEncoder().encode(state).write(to: stateFile, options: .atomic)
    }
    return report
  }

  private func load(_ file: File, _ known: Entry?) throws -> Work {
    let attributes = try FileManager.default.attributesOfItem(atPath: file.source)
    let size = (attributes[.size] as? NSNumber)?.intValue ?? 0
    let time = (attributes[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate ?? 0
    if let known, known.size == size, known.time == time {
      return Work(source: file.source, output: file.output, entry: known, isChanged: false)
    }
    let bytes = try Self.read(file.source)
    let parsed =
      SourceRewriter.isAffected(bytes, replaced: Set(replacements.keys)) ? SourceRewriter.Parsed(bytes) : nil
    return Work(
      source: file.source, output: file.output, bytes: bytes,
      entry: Entry(size: size, time: time, facts: parsed?.facts), parsed: parsed, isChanged: true)
  }

  private static func read(_ path: String) throws -> [UInt8] {
    try Array(Data(contentsOf: URL(fileURLWithPath: path)))
  }

  private func located(_ bytes: [UInt8], _ source: String) -> [UInt8] {
    guard keepsLocations else { return bytes }
    let path = source.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return Array("#sourceLocation(file: \"\(path)\", line: 1)\n".utf8) + bytes
  }

  /// Writes a file if its content is new, so that the compiler leaves the others alone.
  private func write(_ bytes: [UInt8], to path: String) throws -> Bool {
    let url = URL(fileURLWithPath: path)
    if let old = try? Data(contentsOf: url), old.elementsEqual(bytes) { return false }
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: url, options: .atomic)
    return true
  }

  /// Runs a function for each number, on all processors, and returns the results in order.
  private func concurrently<Value>(_ count: Int, _ body: (Int) throws -> Value) throws -> [Value] {
    var results = [Result<Value, any Error>?](repeating: nil, count: count)
    results.withUnsafeMutableBufferPointer { results in
      nonisolated(unsafe) let slots = results
      // Guard: each iteration writes its own element.
      nonisolated(unsafe) let body = body
      // Guard: the function only reads what it captures.
      DispatchQueue.concurrentPerform(iterations: count) { number in
        slots[number] = Result { try body(number) }
      }
    }
    return try results.map { try $0!.get() }
  }

  /// Tells one build of the tool from another, and one set of replacements from another.
  private var stamp: String {
    let pairs = replacements.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    return
      "\(Self.toolStamp) \((modules.sorted() + pairs).joined(separator: " ")) \(isOnMainActor) \(importsMembers)"
  }

  private static let toolStamp: String = {
    let path = CommandLine.arguments.first ?? ""
    let attributes = (try? FileManager.default.attributesOfItem(atPath: path)) ?? [:]
    let time = (attributes[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate ?? 0
    return "\(attributes[.size] ?? 0) \(time)"
  }()
}
