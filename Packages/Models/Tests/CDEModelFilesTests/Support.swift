import CDEManagedModel
import CDEModelFiles
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

/// A model of XML text, in memory.
func source(_ body: String) throws -> ModelSource {
  try ModelSource(
    xml: Data(
      """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="1" \
      userDefinedModelVersionIdentifier="">
      \(body)
      </model>
      """.utf8), file: "Test.xcdatamodel/contents")
}

func model(_ body: String, module: String? = nil) throws -> NSManagedObjectModel {
  try source(body).makeModel(module: module)
}

/// A model with one entity Item, and that entity.
func item(_ body: String) throws -> (model: NSManagedObjectModel, entity: NSEntityDescription) {
  let model = try model("<entity name=\"Item\">\(body)</entity>")
  return (model, try #require(model.entitiesByName["Item"]))
}

extension NSManagedObjectModel {
  func entity(_ name: String) throws -> NSEntityDescription { try #require(entitiesByName[name]) }
}

extension NSEntityDescription {
  func attribute(_ name: String) throws -> NSAttributeDescription {
    try #require(attributesByName[name])
  }

  func relationship(_ name: String) throws -> NSRelationshipDescription {
    try #require(relationshipsByName[name])
  }
}

/// A folder for one test, with files by relative path.
func folder(_ files: [String: Data], folders: [String] = []) throws -> URL {
  let url = ProcessFolder.newURL("models")
  try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  for name in folders {
    try FileManager.default.createDirectory(
      at: url.appendingPathComponent(name), withIntermediateDirectories: true)
  }
  for (name, data) in files {
    let file = url.appendingPathComponent(name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: file)
  }
  return url
}

func xml(_ body: String) -> Data {
  Data("<model userDefinedModelVersionIdentifier=\"v\">\(body)</model>".utf8)
}

func currentVersion(_ name: String) -> Data {
  Data(
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">
    <dict>
    	<key>_XCCurrentVersionName</key>
    	<string>\(name)</string>
    </dict>
    </plist>
    """.utf8)
}

/// The error of a throwing call, if it is a model file's.
func fileError(_ body: () throws -> Void) -> ModelFileError? {
  do { try body() } catch { return error as? ModelFileError }
  return nil
}
