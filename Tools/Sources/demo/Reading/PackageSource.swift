import Foundation

/// A file of package records, plain or compressed.
struct PackageSource: Sendable, Equatable {
  let path: String

  /// What messages call it.
  var name: String { URL(fileURLWithPath: path).lastPathComponent }

  /// dpkg's own database of what is installed.
  static let dpkgStatus = PackageSource(path: "/var/lib/dpkg/status")

  /// What this machine knows: dpkg's status first, since the first description of a version counts, then
  /// apt's lists. Empty on systems without either.
  static func onThisMachine() -> [PackageSource] {
    var sources: [PackageSource] = []
    if FileManager.default.fileExists(atPath: dpkgStatus.path) { sources.append(dpkgStatus) }
    let folder = "/var/lib/apt/lists"
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let lists = files.filter { file in
      file.hasSuffix("_Packages")
        || Compression.allCases.contains { file.hasSuffix("_Packages.\($0.rawValue)") }
    }
    return sources + lists.sorted().map { PackageSource(path: "\(folder)/\($0)") }
  }

  /// The sample that comes with the program, for systems without a package database.
  static var sample: PackageSource? {
    Bundle.module.path(forResource: "status", ofType: nil, inDirectory: "Samples").map(
      PackageSource.init(path:))
  }

  /// A reader of its records.
  ///
  /// - Throws: ``SourceError`` when the file can't be opened or nothing here can decompress it.
  func open() throws -> SourceReader {
    guard let file = FileHandle(forReadingAtPath: path) else {
      throw SourceError(path: path, reason: String(cString: strerror(errno)))
    }
    do {
      let start = try file.read(upToCount: 4) ?? Data()
      guard let compression = Compression(start: [UInt8](start)) else {
        return SourceReader(path: path, file: file, start: start)
      }
      try file.close()
      return try SourceReader(path: path, decompressing: compression)
    } catch let error as SourceError {
      throw error
    } catch {
      throw SourceError(path: path, reason: "\(error.localizedDescription)")
    }
  }
}

/// Why a file of records could not be read, or not to its end.
struct SourceError: Error, CustomStringConvertible {
  var path: String
  var reason: String

  var description: String { "\(path): \(reason)" }
}

/// The ways lists are compressed, each by its file extension.
enum Compression: String, CaseIterable, Sendable {
  case lz4, gz, xz, zst, bz2

  /// By the file's first bytes, which tell more reliably than its name.
  init?(start: [UInt8]) {
    let found = Self.allCases.first { start.starts(with: $0.magic) }
    guard let found else { return nil }
    self = found
  }

  private var magic: [UInt8] {
    switch self {
    case .lz4: [0x04, 0x22, 0x4D, 0x18]
    case .gz: [0x1F, 0x8B]
    case .xz: [0xFD, 0x37, 0x7A, 0x58]
    case .zst: [0x28, 0xB5, 0x2F, 0xFD]
    case .bz2: [0x42, 0x5A, 0x68]
    }
  }

  private var program: String {
    switch self {
    case .lz4: "lz4"
    case .gz: "gzip"
    case .xz: "xz"
    case .zst: "zstd"
    case .bz2: "bzip2"
    }
  }

  /// A command that writes the decompressed file to its output; nil when this machine has none.
  func command(for path: String) -> [String]? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    for folder in folders {
      let file = "\(folder)/\(program)"
      if FileManager.default.isExecutableFile(atPath: file) { return [file, "-dc", path] }
    }
    // apt can read whatever it wrote.
    let helper = "/usr/lib/apt/apt-helper"
    return FileManager.default.isExecutableFile(atPath: helper) ? [helper, "cat-file", path] : nil
  }

  var remedy: String { "nothing here reads its compression; install \(program)" }
}
