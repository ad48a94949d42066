import CDEDiagrams
import CDEManagedModel
import CDEModelRuntime
import CDESQLiteStore
import Foundation

/// Values in files of their own, beside the store.
enum ExternalFiles {
  static func folder(of store: URL) -> URL {
    let store = store.resolvingSymlinksInPath()
    let name = store.deletingPathExtension().lastPathComponent
    return store.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT/_EXTERNAL_DATA")
  }

  /// The name of a file that a column's bytes refer to; nil for a value within the row.
  static func name(in bytes: Data) -> String? {
    // A first byte of 2 means a name that ends with a zero; a first byte of 1 means the value itself.
    guard bytes.first == 2, let end = bytes.dropFirst().firstIndex(of: 0) else { return nil }
    return String(decoding: bytes[bytes.index(after: bytes.startIndex)..<end], as: UTF8.self)
  }
}

extension StoreCheck {
  /// Findings that only the file's own tables show.
  func fileFindings(_ url: URL, _ store: OpenedStore) throws -> [Finding] {
    let raw = try RawFile(url)
    let inspection = try StorePlace.inspection(of: url)
    var result = try lowKeyCounts(raw, inspection, store)
    result += try strayPairs(raw, JoinTables(raw, inspection, store.model))
    result += try externalFiles(raw, inspection, store, url)
    return result
  }

  /// A new row would get the key of another one.
  private func lowKeyCounts(_ raw: RawFile, _ inspection: StoreInspection, _ store: OpenedStore) throws
    -> [Finding]
  {
    let maxima = Dictionary(
      try raw.texts("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY").map { ($0[0], Int($0[1]) ?? 0) }
    ) { a, _ in a }
    return try store.model.entities.filter { $0.superentity == nil }.compactMap { entity in
      let name = entity.name ?? ""
      let table = "Z\(name.uppercased())"
      guard inspection.tables[table] != nil, let recorded = maxima[name] else { return nil }
      let greatest =
        Int(try raw.texts("SELECT MAX(Z_PK) FROM \(RawFile.quoted(table))").first?.first ?? "") ?? 0
      guard greatest > recorded else { return nil }
      return Finding(
        kind: .lowKeyCount, place: name, count: greatest - recorded,
        detail: "Z_PRIMARYKEY.Z_MAX is \(recorded), but a row has the key \(greatest). New rows may fail.",
        repair: nil)
    }
  }

  private func externalFiles(
    _ raw: RawFile, _ inspection: StoreInspection, _ store: OpenedStore, _ url: URL
  ) throws -> [Finding] {
    let folder = ExternalFiles.folder(of: url)
    let files = Set((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
    var named: [String: String] = [:]
    for entity in store.model.entities {
      var root = entity
      while let parent = root.superentity { root = parent }
      let table = "Z\((root.name ?? "").uppercased())"
      for case let attribute as NSAttributeDescription in entity.ownStored
      where attribute.allowsExternalBinaryDataStorage {
        let column = "Z\(attribute.name.uppercased())"
        // Names that clash get numbers. Such a column is not looked into, so no file may be called an orphan.
        guard inspection.tables[table]?.contains(column) == true else { return [] }
        let sql =
          "SELECT substr(\(RawFile.quoted(column)), 1, 80) FROM \(RawFile.quoted(table)) WHERE substr(\(RawFile.quoted(column)), 1, 1) = X'02'"
        for case .some(let bytes) in try raw.rows(sql).map(\.[0]) {
          if let name = ExternalFiles.name(in: bytes) {
            named[name] = "\(entity.name ?? "").\(attribute.name)"
          }
        }
      }
    }
    let orphans = files.subtracting(named.keys).sorted().map { name in
      let size =
        (try? FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent(name).path)[.size]
        as? NSNumber)?.intValue ?? 0
      return Finding(
        kind: .orphanedFile, place: name, count: 1, detail: "No row refers to this file of \(size) bytes.",
        repair: "remove the file")
    }
    let missing = named.filter { !files.contains($0.key) }.sorted { $0.key < $1.key }.map { name, place in
      Finding(
        kind: .missingFile, place: place, count: 1,
        detail: "The value's file \(name) is missing. Copy it from a backup into \(folder.path).", repair: nil
      )
    }
    return orphans + missing
  }
}
