import CDEToolKit
import Foundation

/// Lines of a terminal, with editing, completion and a history that stays between runs, by libedit if it is installed.
@MainActor
final class LineReader {
  private typealias ReadLine = @convention(c) (UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>?
  private typealias AddHistory = @convention(c) (UnsafePointer<CChar>?) -> Int32
  private typealias HistoryFile = @convention(c) (UnsafePointer<CChar>?) -> Int32
  private typealias Generator = @convention(c) (UnsafePointer<CChar>?, Int32) -> UnsafeMutablePointer<CChar>?
  private typealias Matches =
    @convention(c) (UnsafePointer<CChar>?, Generator) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
  private typealias Completer =
    @convention(c) (UnsafePointer<CChar>?, Int32, Int32) -> UnsafeMutablePointer<
      UnsafeMutablePointer<CChar>?
    >?

  /// The functions of the library, which has no place for a context of ours.
  private struct Library {
    let readLine: ReadLine
    let addHistory: AddHistory
    let writeHistory: HistoryFile
    let matches: Matches
    let buffer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  }

  private static var library: Library?
  private static var complete: (String) -> [String] = { _ in [] }
  private static var found: ArraySlice<String> = []

  private let history: String?

  init(completing complete: @escaping (String) -> [String]) {
    Self.complete = complete
    history = Self.historyFile()
    Self.library = Self.open(history)
  }

  /// The next line; nil at the end of the input.
  func line(prompt: String) -> String? {
    guard let library = Self.library else {
      Terminal.write(prompt)
      return readLine()
    }
    guard let line = library.readLine(prompt) else {
      Terminal.write("\n")
      return nil
    }
    defer { free(line) }
    return String(cString: line)
  }

  /// Keeps a line for the arrows, in this run and later ones.
  func remember(_ line: String) {
    guard let library = Self.library, line.contains(where: { !$0.isWhitespace }) else { return }
    _ = library.addHistory(line.split(whereSeparator: \.isNewline).joined(separator: " "))
    if let history { _ = library.writeHistory(history) }
  }

  private static func historyFile() -> String? {
    let environment = ProcessInfo.processInfo.environment
    let state =
      environment["XDG_STATE_HOME"].flatMap { $0.isEmpty ? nil : $0 }
      ?? environment["HOME"].map { $0 + "/.local/state" }
    guard let folder = state.map({ $0 + "/cde" }),
      (try? FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])) != nil
    else { return nil }
    return folder + "/query-history"
  }

  private static func open(_ history: String?) -> Library? {
    guard
      let handle = ["libedit.so.2", "libedit.so.0", "libedit.so"].lazy.compactMap({ (name: String) in
        dlopen(name, RTLD_NOW)
      }).first,
      let readLine = dlsym(handle, "readline"), let addHistory = dlsym(handle, "add_history"),
      let write = dlsym(handle, "write_history"), let read = dlsym(handle, "read_history"),
      let matches = dlsym(handle, "rl_completion_matches"), let buffer = dlsym(handle, "rl_line_buffer"),
      let completer = dlsym(handle, "rl_attempted_completion_function"),
      let breaks = dlsym(handle, "rl_basic_word_break_characters"),
      let over = dlsym(handle, "rl_attempted_completion_over")
    else { return nil }
    let complete: Completer = { _, _, end in
      // The library calls it on the thread that reads the line.
      let address = MainActor.assumeIsolated { UInt(bitPattern: LineReader.matches(end)) }
      return UnsafeMutablePointer(bitPattern: address)
    }
    completer.assumingMemoryBound(to: Optional<Completer>.self).pointee = complete
    // A word is what stands between blanks: a key path with its points.
    breaks.assumingMemoryBound(to: UnsafePointer<CChar>?.self).pointee = UnsafePointer(strdup(" \t\n"))
    Self.over = over.assumingMemoryBound(to: Int32.self)
    if let history { _ = unsafeBitCast(read, to: HistoryFile.self)(history) }
    return Library(
      readLine: unsafeBitCast(readLine, to: ReadLine.self),
      addHistory: unsafeBitCast(addHistory, to: AddHistory.self),
      writeHistory: unsafeBitCast(write, to: HistoryFile.self),
      matches: unsafeBitCast(matches, to: Matches.self),
      buffer: buffer.assumingMemoryBound(to: UnsafeMutablePointer<CChar>?.self))
  }

  private static var over: UnsafeMutablePointer<Int32>?

  private static func matches(_ end: Int32) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
    // Without this the library would go on with the names of files.
    over?.pointee = 1
    guard let library, let line = library.buffer.pointee else { return nil }
    let text = String(decoding: UnsafeRawBufferPointer(start: line, count: Int(end)), as: UTF8.self)
    found = complete(text)[...]
    return library.matches("") { _, _ in
      let address = MainActor.assumeIsolated {
        UInt(bitPattern: LineReader.found.popFirst().flatMap { strdup($0) })
      }
      return UnsafeMutablePointer(bitPattern: address)
    }
  }
}
