internal import Dispatch
internal import Foundation

/// What the environment asks for: a record from the first coordinator on, and where its report goes.
struct ProfileEnvironment: Sendable {
  enum Output: Sendable, Hashable {
    case standardError
    case file(String)
  }

  let output: Output
  let options: CDEProfile.Options

  /// Nil if the environment asks for nothing.
  init?(_ environment: [String: String]) {
    guard let value = environment["CDE_PROFILE"], !["", "0", "no"].contains(value.lowercased()) else {
      return nil
    }
    let isFile = [".html", ".json", ".txt"].contains { value.hasSuffix($0) }
    output = isFile ? .file(value) : .standardError
    var options = CDEProfile.Options()
    options.recordsTimeline = isFile && !value.hasSuffix(".txt")
    options.includesValues = environment["CDE_PROFILE_VALUES"] == "yes"
    if let text = environment["CDE_PROFILE_SLOW"], let milliseconds = Double(text), milliseconds >= 0 {
      options.slow = .seconds(milliseconds / 1000)
    }
    self.options = options
  }

  /// Starts the record, and arranges that its report is written at the exit and upon SIGUSR1.
  func begin() {
    CDEProfile.start(options)
    Self.written.set(self)
    atexit { ProfileEnvironment.written.write() }
    // A program's own handler stays.
    var known = sigaction()
    guard sigaction(SIGUSR1, nil, &known) == 0, Self.isDefault(known) else { return }
    signal(SIGUSR1, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGUSR1, queue: .global())
    source.setEventHandler { ProfileEnvironment.written.write() }
    source.activate()
    Self.written.keep(source)
  }

  private static let written = ProfileWriter()

  private static func isDefault(_ action: sigaction) -> Bool {
    #if os(Linux) || os(Android)
      action.__sigaction_handler.sa_handler == nil
    #else
      action.__sigaction_u.__sa_handler == nil
    #endif
  }

  func write(_ report: CDEProfileReport) {
    switch output {
    case .standardError: FileHandle.standardError.write(Data(report.description.utf8))
    case .file(let path):
      do {
        let data =
          path.hasSuffix(".html")
          ? Data(report.html.utf8)
          : path.hasSuffix(".json") ? try JSONEncoder().encode(report) : Data(report.description.utf8)
        try data.write(to: URL(fileURLWithPath: path), options: .atomic)
      } catch {
        let text = "The profile can't be written to \(path): \(error.localizedDescription)\n"
        FileHandle.standardError.write(Data(text.utf8))
      }
    }
  }
}
