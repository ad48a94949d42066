import Foundation

/// The terminal that reads the answer, or the file instead of one.
public struct Terminal: Sendable {
  let isTerminal: Bool
  let hasColors: Bool
  let width: Int?
  let height: Int

  /// Asks the system.
  public init() {
    self.init(
      isTerminal: isatty(STDOUT_FILENO) == 1, environment: ProcessInfo.processInfo.environment,
      size: Self.size())
  }

  init(isTerminal: Bool, environment: [String: String], size: (columns: Int, lines: Int)?) {
    self.isTerminal = isTerminal
    // As no-color.org describes it.
    let refuses = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
    hasColors = isTerminal && !refuses && environment["TERM"] != "dumb"
    width = isTerminal ? size?.columns ?? 80 : nil
    height = size?.lines ?? 24
  }

  /// A renderer for this terminal.
  public var renderer: Renderer { Renderer(hasColors: hasColors, width: width) }

  private static func size() -> (columns: Int, lines: Int)? {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
      return nil
    }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Prints a text; with a pager if it is longer than the terminal.
  public func show(_ text: String, mayPage: Bool) {
    if isTerminal, mayPage, text.utf8.count(where: { $0 == 0x0A }) >= height, page(text) { return }
    Self.write(text, to: STDOUT_FILENO)
  }

  /// Prints a sentence for people to standard error.
  public static func note(_ text: String) { write(text + "\n", to: STDERR_FILENO) }

  /// Writes to standard output.
  public static func write(_ text: String) { write(text, to: STDOUT_FILENO) }

  static func write(_ text: String, to file: Int32) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR || errno == EAGAIN { continue }
        // The reader has gone, as `head` does.
        if errno == EPIPE || file != STDOUT_FILENO { return }
        let reason = String(cString: strerror(errno))
        note(
          "error: The answer can't be written: \(reason). Make room, or choose another place. What is there is not complete."
        )
        exit(ToolError.Status.failed.rawValue)
      }
      bytes = bytes.dropFirst(count)
    }
  }

  private func page(_ text: String) -> Bool {
    let environment = ProcessInfo.processInfo.environment
    let command = environment["PAGER"].flatMap { $0.isEmpty ? nil : $0 } ?? "less"
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = [
      "-c", "command -v \(command.split(separator: " ")[0]) >/dev/null && exec \(command)",
    ]
    process.environment = environment.merging(["LESS": "FRSX"]) { own, _ in own }
    let pipe = Pipe()
    process.standardInput = pipe
    signal(SIGPIPE, SIG_IGN)
    guard (try? process.run()) != nil else { return false }
    Self.write(text, to: pipe.fileHandleForWriting.fileDescriptor)
    try? pipe.fileHandleForWriting.close()
    process.waitUntilExit()
    return process.terminationStatus != 127 && process.terminationStatus != 1
  }
}
