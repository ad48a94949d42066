@_spi(CDE) import CDESQLiteFaults
import Foundation

/// A place for a store's files.
struct TemporaryStore {
  let url: URL

  init() throws { url = ProcessFolder.newURL("swiftdata").appendingPathExtension("store") }
}
