import Foundation

/// Standard error as the place for a line that is painted over and over.
@MainActor
final class Terminal {
  /// Whether it is a terminal; else it goes to a file or a pipe, where lines follow each other.
  let isInteractive = isatty(STDERR_FILENO) == 1
  private var shown = ""

  /// Shows a line in place of the last one.
  func show(_ line: String) {
    guard line != shown else { return }
    shown = line
    write(isInteractive ? "\r\u{1B}[K" + line : line + "\n")
  }

  /// Takes the line away, so that what follows stands in its place.
  func clear() {
    if isInteractive, !shown.isEmpty { write("\r\u{1B}[K") }
    shown = ""
  }

  /// Writes a line that stays.
  func note(_ line: String) {
    clear()
    write(line + "\n")
  }

  private func write(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}
