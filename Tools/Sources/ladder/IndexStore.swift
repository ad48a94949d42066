import Foundation

/// The index that the compiler writes beside a debug build, read by the toolchain's own libIndexStore.
///
/// It has one unit for each compiled file. The unit's record lists the places where the file declares or uses a symbol.
struct IndexStore {
  /// A compiled file.
  struct Unit {
    let name: String
    let module: String
    let file: String
    let written: Date
  }

  /// A declaration, as the compiler knows it.
  struct Symbol {
    let usr: String
    let name: String
    let kind: indexstore_symbol_kind_t

    /// Whether the symbol is the name of a type.
    var isType: Bool {
      [
        INDEXSTORE_SYMBOL_KIND_ENUM, INDEXSTORE_SYMBOL_KIND_STRUCT, INDEXSTORE_SYMBOL_KIND_CLASS,
        INDEXSTORE_SYMBOL_KIND_PROTOCOL, INDEXSTORE_SYMBOL_KIND_TYPEALIAS,
      ].contains(kind)
    }
  }

  /// A place where a file declares or uses a symbol.
  struct Occurrence {
    let symbol: Symbol
    let line: Int
    let isDefinition: Bool
    /// False also for a member by which a type of the file conforms to a protocol, and which its superclass has.
    let isReference: Bool
    /// Name of the type, or of the extended type, that a definition stands in.
    let parent: String?
    /// Whether the symbol is a getter, a setter or another accessor. Its property has an occurrence, too.
    let isAccessor: Bool
  }

  private let store: indexstore_t

  init(path: String) throws {
    var problem: indexstore_error_t?
    guard let store = indexstore_store_create(path, &problem) else {
      throw LadderError("\(path) can't be read as an index: \(reason(problem)) Run swift build first.")
    }
    self.store = store
  }

  /// The units of these modules.
  func units(of modules: Set<String>) throws -> [Unit] {
    var names: [String] = []
    withUnsafeMutablePointer(to: &names) { list in
      _ = indexstore_store_units_apply_f(store, 1, list) { list, name in
        list!.assumingMemoryBound(to: [String].self).pointee.append(string(name))
        return true
      }
    }
    return try names.compactMap { name in
      let reader = try unitReader(name)
      defer { indexstore_unit_reader_dispose(reader) }
      let module = string(indexstore_unit_reader_get_module_name(reader))
      guard modules.contains(module), indexstore_unit_reader_has_main_file(reader) else { return nil }
      var (seconds, nanoseconds): (Int64, Int64) = (0, 0)
      indexstore_unit_reader_get_modification_time(reader, &seconds, &nanoseconds)
      let folder = URL(
        filePath: string(indexstore_unit_reader_get_working_dir(reader)), directoryHint: .isDirectory)
      let file = URL(filePath: string(indexstore_unit_reader_get_main_file(reader)), relativeTo: folder)
      return Unit(
        name: name, module: module, file: file.absoluteURL.resolvingSymlinksInPath().path,
        written: Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1e9))
    }
  }

  /// What a unit's file declares and uses.
  func occurrences(in unit: Unit) throws -> [Occurrence] {
    let reader = try unitReader(unit.name)
    defer { indexstore_unit_reader_dispose(reader) }
    var records: [(name: String, path: String)] = []
    withUnsafeMutablePointer(to: &records) { list in
      _ = indexstore_unit_reader_dependencies_apply_f(reader, list) { list, dependency in
        guard indexstore_unit_dependency_get_kind(dependency) == INDEXSTORE_UNIT_DEPENDENCY_RECORD else {
          return true
        }
        let name = string(indexstore_unit_dependency_get_name(dependency))
        let path = string(indexstore_unit_dependency_get_filepath(dependency))
        list!.assumingMemoryBound(to: [(name: String, path: String)].self).pointee.append((name, path))
        return true
      }
    }
    let fileName = URL(filePath: unit.file).lastPathComponent
    return try records.filter { URL(filePath: $0.path).lastPathComponent == fileName }
      .flatMap { try occurrences(inRecord: $0.name) }
  }

  private func occurrences(inRecord name: String) throws -> [Occurrence] {
    var problem: indexstore_error_t?
    guard let reader = indexstore_record_reader_create(store, name, &problem) else {
      throw LadderError(
        "The index lacks the record \(name): \(reason(problem)) Remove the index and build again.")
    }
    defer { indexstore_record_reader_dispose(reader) }
    var found: [Occurrence] = []
    withUnsafeMutablePointer(to: &found) { list in
      _ = indexstore_record_reader_occurrences_apply_f(reader, list) { list, occurrence in
        list!.assumingMemoryBound(to: [Occurrence].self).pointee.append(Occurrence(occurrence!))
        return true
      }
    }
    return found
  }

  private func unitReader(_ name: String) throws -> indexstore_unit_reader_t {
    var problem: indexstore_error_t?
    guard let reader = indexstore_unit_reader_create(store, name, &problem) else {
      throw LadderError(
        "The index lacks the unit \(name): \(reason(problem)) Remove the index and build again.")
    }
    return reader
  }
}

extension IndexStore.Symbol {
  fileprivate init(_ symbol: indexstore_symbol_t) {
    usr = string(indexstore_symbol_get_usr(symbol))
    name = string(indexstore_symbol_get_name(symbol))
    kind = indexstore_symbol_get_kind(symbol)
  }
}

extension IndexStore.Occurrence {
  fileprivate init(_ occurrence: indexstore_occurrence_t) {
    var relations: [(roles: UInt64, name: String)] = []
    withUnsafeMutablePointer(to: &relations) { list in
      _ = indexstore_occurrence_relations_apply_f(occurrence, list) { list, relation in
        let roles = indexstore_symbol_relation_get_roles(relation)
        let name = string(indexstore_symbol_get_name(indexstore_symbol_relation_get_symbol(relation)))
        list!.assumingMemoryBound(to: [(roles: UInt64, name: String)].self).pointee.append((roles, name))
        return true
      }
    }
    func related(by role: Int) -> String? { relations.first { $0.roles & UInt64(role) != 0 }?.name }
    let roles = indexstore_occurrence_get_roles(occurrence)
    var line: UInt32 = 0
    indexstore_occurrence_get_line_col(occurrence, &line, nil)
    symbol = IndexStore.Symbol(indexstore_occurrence_get_symbol(occurrence))
    self.line = Int(line)
    isDefinition = roles & UInt64(INDEXSTORE_SYMBOL_ROLE_DEFINITION) != 0
    isReference = roles & UInt64(INDEXSTORE_SYMBOL_ROLE_REFERENCE) != 0
    parent = related(by: INDEXSTORE_SYMBOL_ROLE_REL_CHILDOF)
    isAccessor = related(by: INDEXSTORE_SYMBOL_ROLE_REL_ACCESSOROF) != nil
  }
}

/// A problem that ends the program, and what to do about it.
struct LadderError: Error {
  let message: String

  init(_ message: String) { self.message = message }
}

private func string(_ reference: indexstore_string_ref_t) -> String {
  String(decoding: UnsafeRawBufferPointer(start: reference.data, count: reference.length), as: UTF8.self)
}

private func reason(_ problem: indexstore_error_t?) -> String {
  guard let problem else { return "no reason is given." }
  defer { indexstore_error_dispose(problem) }
  return String(cString: indexstore_error_get_description(problem)) + "."
}
