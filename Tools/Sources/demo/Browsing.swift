import CoreDataEvolution
import Foundation
import PackageModel

/// Continues as `cde studio` on the index. The script `Tools/demo` builds that program, which this one does not depend on.
enum Browsing {
  /// Why the index can't be shown in a browser.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// Replaces this process.
  ///
  /// - Parameters:
  ///   - place: where the index lies.
  ///   - text: the place as the command line names it, with the password that ``IndexPlace/name`` leaves out.
  /// - Throws: ``Failure``.
  static func become(_ place: IndexPlace, _ text: String?) throws {
    guard let program = ProcessInfo.processInfo.environment["CDE_PROGRAM"] else {
      throw Failure(
        description: "--studio needs the command cde. Start this program by Tools/demo, which builds it.")
    }
    var words = ["cde", "studio", text ?? place.name]
    if case .server(_, let schema) = place { words += ["--schema", schema] }
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    execv(program, &arguments)
    throw Failure(description: "\(program) can't be run: \(String(cString: strerror(errno))).")
  }
}
