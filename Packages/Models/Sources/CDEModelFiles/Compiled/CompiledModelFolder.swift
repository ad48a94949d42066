@_spi(CDE) internal import CDEManagedModel
internal import Foundation

/// A `.momd`: the compiled versions of a model, and a list that says which is current.
///
/// The file `.omo` in it is a second, private form of the current version. The `.mom` of the same name is read instead.
struct CompiledModelFolder {
  static let listName = "VersionInfo.plist"

  let url: URL
  let currentVersion: String

  init(_ url: URL) throws(ModelFileError) {
    self.url = url
    let names = try ModelFile.names(in: url)
    guard names.contains(Self.listName) else {
      let versions = names.filter { $0.hasSuffix(".mom") }
      guard versions.count == 1 else {
        throw ModelFileError(
          .unsupportedFormat, "The folder has no file \(Self.listName), which names the current version.",
          file: url.path)
      }
      currentVersion = String(versions[0].dropLast(".mom".count))
      return
    }
    let file = url.appendingPathComponent(Self.listName)
    let list = try PropertyListFile.read(try ModelFile.data(at: file), file: file.path)
    guard let name = list["NSManagedObjectModel_CurrentVersionName"]?.text else {
      throw ModelFileError(.damaged, "The list of versions names no current version.", file: file.path)
    }
    _ = try ModelFile.member(name, of: url, file: file)
    currentVersion = name
  }

  /// The files of the versions, sorted by name.
  static func versionFiles(in url: URL) throws(ModelFileError) -> [URL] {
    try ModelFile.names(in: url).filter { $0.hasSuffix(".mom") }.sorted().map {
      url.appendingPathComponent($0)
    }
  }

  /// The file with the archive of a version whose private form is given.
  static func archive(of file: URL) throws(ModelFileError) -> URL {
    if try ModelFile.data(at: file).starts(with: Data("bplist".utf8)) { return file }
    let archive = file.deletingPathExtension().appendingPathExtension("mom")
    guard ModelFile.exists(archive) else {
      throw ModelFileError(
        .unsupportedFormat,
        "The file has a private form of Core Data's. The same model is in \(archive.lastPathComponent), which is not beside it. "
          + "Give the .momd folder with all its files, or the .xcdatamodeld.", file: file.path)
    }
    return archive
  }

  func read(into model: NSManagedObjectModel, module: String?) throws(ModelFileError) {
    let file = url.appendingPathComponent("\(currentVersion).mom")
    try CompiledModelReader(try ModelFile.data(at: file), file: file.path).fill(model, module: module)
  }
}
