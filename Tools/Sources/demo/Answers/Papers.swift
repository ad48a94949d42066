import CDEDiagrams
import CoreDataEvolution
import Foundation
import PackageModel

/// What a run leaves to look at: a picture of the index's model, and the page of its profile.
struct Papers {
  private let folder: URL
  private let name: String

  /// Beside the index, or in the temporary folder if the index lies on a server.
  init(beside place: IndexPlace) {
    switch place {
    case .file(let url):
      folder = url.deletingLastPathComponent()
      name = url.deletingPathExtension().lastPathComponent
    case .server:
      folder = FileManager.default.temporaryDirectory
      name = "package-index"
    }
  }

  /// Writes both.
  ///
  /// - Returns: a line for each.
  /// - Throws: an error of the file system.
  func write(_ model: NSManagedObjectModel) throws -> String {
    let diagram = folder.appendingPathComponent("\(name)-model.svg")
    try Data(Diagram(model, showsAttributes: true).text(.svg, theme: .auto).utf8).write(to: diagram)
    let profile = folder.appendingPathComponent("\(name)-profile.html")
    try Data(CDEProfile.report().html.utf8).write(to: profile)
    return "A diagram of the model: \(diagram.path)\nWhat this run did, as a page: \(profile.path)"
  }
}
