public import Foundation

/// Reads files and finds the versions of a model, without following anything outside of the model's folder.
enum ModelFile {
  /// No model comes near this size.
  static let sizeLimit = 32 << 20

  static func data(at url: URL) throws(ModelFileError) -> Data {
    let attributes: [FileAttributeKey: Any]
    do {
      attributes = try FileManager.default.attributesOfItem(
        atPath: url.resolvingSymlinksInPath().path)
    } catch {
      throw ModelFileError(.missing, "There is no such file.", file: url.path, cause: error)
    }
    // A folder can't be read, and a pipe would be waited for without end.
    guard attributes[.type] as? FileAttributeType == .typeRegular else {
      throw ModelFileError(.unsupportedFormat, "This is no file of a model.", file: url.path)
    }
    guard (attributes[.size] as? NSNumber)?.intValue ?? 0 <= sizeLimit else {
      throw ModelFileError(
        .tooLarge, "The file is larger than \(sizeLimit >> 20) MB, which no model is.", file: url.path)
    }
    do { return try Data(contentsOf: url) } catch {
      throw ModelFileError(
        .inaccessible, "The file can't be read. Check its permissions.", file: url.path, cause: error)
    }
  }

  static func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

  static func isFolder(_ url: URL) -> Bool {
    var result: ObjCBool = false
    return FileManager.default.fileExists(atPath: url.path, isDirectory: &result) && result.boolValue
  }

  /// The names in a folder, sorted.
  static func names(in folder: URL) throws(ModelFileError) -> [String] {
    guard isFolder(folder) else {
      throw ModelFileError(
        exists(folder) ? .unsupportedFormat : .missing,
        exists(folder) ? "This is a file where a folder is needed." : "There is no such folder.",
        file: folder.path)
    }
    do { return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() } catch {
      throw ModelFileError(
        .inaccessible, "The folder can't be read. Check its permissions.", file: folder.path, cause: error)
    }
  }

  /// Checks that a name from a file is the name of a member of the folder, and no path out of it.
  static func member(_ name: String, of folder: URL, file: URL) throws(ModelFileError) -> URL {
    guard !name.isEmpty, name != ".", name != "..", !name.contains("/"), !name.contains("\0") else {
      throw ModelFileError(.damaged, "“\(name)” is no name of a version.", file: file.path)
    }
    return folder.appendingPathComponent(name)
  }
}

extension ModelSource {
  /// Reads a model: an `.xcdatamodel`, or the current version of an `.xcdatamodeld`.
  ///
  /// - Parameter url: The folder `X.xcdatamodel` or `X.xcdatamodeld`.
  /// - Throws: ``ModelFileError`` that names the file, the element and the line.
  public init(contentsOf url: URL) throws(ModelFileError) {
    if url.pathExtension == "xcdatamodeld" {
      let folder = try ModelSourceFolder(url)
      try self.init(contentsOf: folder.url(of: folder.currentVersion))
      return
    }
    let contents = url.appendingPathComponent("contents")
    guard ModelFile.exists(contents) else {
      if ModelFile.exists(url.appendingPathComponent("elements")) {
        throw ModelFileError(
          .unsupportedFormat,
          "The model has the binary format of Xcode 3. Open it in Xcode and save it as a current model.",
          file: url.path)
      }
      throw ModelFileError(
        ModelFile.exists(url) ? .unsupportedFormat : .missing,
        ModelFile.exists(url)
          ? "The folder is no model: it has no file “contents”." : "There is no such model.", file: url.path)
    }
    try self.init(xml: try ModelFile.data(at: contents), file: contents.path)
  }
}

/// An `.xcdatamodeld`: the versions of a model, one of which is current.
///
/// The current version is the one that the file `.xccurrentversion` names. Without it, or if it names none, it is the only
/// version, or the one that is named like the folder.
public struct ModelSourceFolder: Sendable {
  /// The folder itself.
  public let url: URL
  /// The names of the versions, without extension, sorted.
  public let versions: [String]
  /// The name of the current version.
  public let currentVersion: String

  /// Lists the versions of a model. Reads no version.
  ///
  /// - Parameter url: The folder `X.xcdatamodeld`.
  /// - Throws: ``ModelFileError`` when there is no version, or none is current.
  public init(_ url: URL) throws(ModelFileError) {
    self.url = url
    let ending = ".xcdatamodel"
    versions = try ModelFile.names(in: url).filter { $0.hasSuffix(ending) }.map {
      String($0.dropLast(ending.count))
    }.sorted()
    guard let first = versions.first else {
      throw ModelFileError(
        .unsupportedFormat, "The folder has no version: no .xcdatamodel is in it.", file: url.path)
    }
    if let name = try Self.markedVersion(in: url) {
      guard name.hasSuffix(ending), versions.contains(String(name.dropLast(ending.count))) else {
        throw ModelFileError(
          .invalidModel,
          "The current version “\(name)” is not in the folder. Choose the current version in Xcode again.",
          file: url.appendingPathComponent(Self.marker).path)
      }
      currentVersion = String(name.dropLast(ending.count))
    } else if versions.count == 1 {
      currentVersion = first
    } else {
      // Xcode leaves the file out while there is one version, which is named like the model.
      let name = url.deletingPathExtension().lastPathComponent
      guard versions.contains(name) else {
        throw ModelFileError(
          .invalidModel,
          "The folder has the versions \(versions.joined(separator: ", ")), none is named like the model, and no file "
            + "\(Self.marker) says which one is current. Choose the current version in Xcode.", file: url.path
        )
      }
      currentVersion = name
    }
  }

  private static let marker = ".xccurrentversion"

  /// The file name of the version that Xcode has marked as current; nil without a mark. Xcode also writes lists that mark none.
  private static func markedVersion(in url: URL) throws(ModelFileError) -> String? {
    let file = url.appendingPathComponent(marker)
    guard ModelFile.exists(file) else { return nil }
    let data = try ModelFile.data(at: file)
    let isBlank = data.allSatisfy { $0 == 0x20 || (0x09...0x0D).contains($0) }
    if isBlank { return nil }
    let name = try PropertyListFile.read(data, file: file.path)["_XCCurrentVersionName"]?.text
    return name.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The folders of the versions, sorted by name.
  var versionFiles: [URL] { versions.map(url(of:)) }

  /// The folder of a version.
  public func url(of version: String) -> URL {
    url.appendingPathComponent("\(version).xcdatamodel")
  }
}
