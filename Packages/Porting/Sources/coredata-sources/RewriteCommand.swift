import CDESourceRewriting
import CDESourceTool
import Foundation

/// Rewrites a folder once.
struct RewriteCommand {
  let folder: String
  let output: String

  func run() throws {
    guard let walker = FileManager.default.enumerator(atPath: folder) else {
      throw Problem("There is no folder \(folder).")
    }
    let paths = walker.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted()
    guard !paths.isEmpty else { throw Problem("The folder \(folder) holds no Swift file.") }
    let files = paths.map { TargetRewriting.File(source: "\(folder)/\($0)", output: "\(output)/\($0)") }
    let report = try TargetRewriting(
      files, table: "\(output)/PortedClasses.swift", keepsLocations: false
    ).run()
    try finish(report)
    print("\(files.count) files written to \(output), \(report.parsed) of them rewritten.")
  }
}
