import CDESourceFacts
import Foundation

/// The program that reads Swift sources.
///
/// It is a program of its own because the parser is a set of dynamic libraries of the toolchain, and `cde` is linked
/// statically.
struct SourceFactsProgram {
  static let name = "cde-source-facts"
  let url: URL

  /// Looks beside the running program, in its `../libexec/cde`, and where `CDE_SOURCE_FACTS` says.
  ///
  /// - Throws: ``ToolError`` if it is in none of these places.
  init(
    environment: [String: String] = ProcessInfo.processInfo.environment, executable: URL? = Self.ownExecutable
  )
    throws
  {
    if let path = environment["CDE_SOURCE_FACTS"], !path.isEmpty {
      guard FileManager.default.isExecutableFile(atPath: path) else {
        throw ToolError(
          "CDE_SOURCE_FACTS names \(path), which is no program. Correct the variable, or unset it.")
      }
      url = URL(fileURLWithPath: path)
      return
    }
    let folder = executable?.resolvingSymlinksInPath().deletingLastPathComponent()
    let places = [
      folder?.appendingPathComponent(Self.name),
      folder?.deletingLastPathComponent().appendingPathComponent("libexec/cde/\(Self.name)"),
    ].compactMap { $0 }
    guard let found = places.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
      throw ToolError(
        "The program \(Self.name), which reads Swift sources, is missing. Run Tools/install again, or name it by the variable CDE_SOURCE_FACTS."
      )
    }
    url = found
  }

  static var ownExecutable: URL? {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")).map {
      URL(fileURLWithPath: $0)
    }
      ?? Bundle.main.executableURL
  }

  /// The facts of files, in their order.
  func facts(of paths: [String]) throws -> [SourceFacts.File] {
    if paths.isEmpty { return [] }
    let process = Process()
    process.executableURL = url
    let (input, output, errors) = (Pipe(), Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = errors
    // The program may end before it has read everything.
    signal(SIGPIPE, SIG_IGN)
    do { try process.run() } catch {
      throw ToolError("\(url.path) does not start: \(error.localizedDescription) Run Tools/install again.")
    }
    // The program reads all paths before it writes.
    try? input.fileHandleForWriting.write(contentsOf: Data(paths.joined(separator: "\0").utf8))
    try? input.fileHandleForWriting.close()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationReason == .exit else {
      throw ToolError(
        "\(url.path) crashed. Name a part of the sources by --sources, to find the file that it does not read."
      )
    }
    guard process.terminationStatus == 0 else {
      let reason = text.split(whereSeparator: \.isNewline).first.map { " It says: \($0)" } ?? ""
      throw ToolError(
        "\(url.path) failed.\(reason) Run Tools/install again with the toolchain that is installed now.")
    }
    let facts = try? JSONDecoder().decode(SourceFacts.self, from: data)
    guard let facts, facts.format == SourceFacts.currentFormat, facts.files.count == paths.count else {
      throw ToolError("\(url.path) is of another version than this program. Run Tools/install again.")
    }
    return facts.files
  }
}
