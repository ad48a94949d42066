import CDEManagedModel
import CDEModelRuntime
import Foundation

/// The commands of `cde store query`, over one open store.
public final class QuerySession {
  /// What a line leads to.
  public enum Outcome {
    case answer(Answer)
    case mode(OutputMode)
    case nothing
    case end
  }

  static let commands = ["count", "entities", "explain", "help", "info", "mode", "quit", "show"]

  let store: OpenedStore
  private let schema: String?
  private let model: NSManagedObjectModel?

  public init(_ store: OpenedStore, model: NSManagedObjectModel? = nil, schema: String? = nil) {
    self.store = store
    self.model = model
    self.schema = schema
  }

  /// Whether a text goes on in the next line: a quotation mark or a bracket is open, or a backslash ends it.
  public static func isOpen(_ text: String) -> Bool { QueryLine.isOpen(text) }

  /// Carries out a line.
  ///
  /// - Throws: ``ToolError``. The session goes on.
  public func run(_ text: String) throws -> Outcome {
    let line = try QueryLine(text)
    // Between the lines no state is kept, because the log of a store can't be reused meanwhile.
    try store.beginState()
    defer { try? store.endState() }
    // An entity may be named like a command.
    if store.model.entitiesByName[line.head] == nil, let outcome = try command(line) { return outcome }
    return .answer(try rows(line))
  }

  private func command(_ line: QueryLine) throws -> Outcome? {
    switch line.head.lowercased() {
    case "": return .nothing
    case "quit", "exit": return .end
    case "help", "?": return .answer(Answer([.text(Self.help)]))
    case "entities": return .answer(try store.entities())
    case "info": return .answer(try OpenedStore.info(store.place, schema: schema))
    case "mode":
      guard let mode = OutputMode(rawValue: line.argument.lowercased()) else {
        let all = OutputMode.allCases.map(\.rawValue).joined(separator: ", ")
        throw ToolError("\(line.argument) is no form of an answer. They are \(all).", .usage)
      }
      return .mode(mode)
    case "show": return .answer(try store.page(of: line.argument, members: 20))
    case "count":
      let request = try store.request(
        try store.entity(named: line.argument), predicate: line.parts[.condition])
      let count = try store.read { try $0.count(for: request) }
      return .answer(Answer([.text("\(count)")], json: .int(count)))
    case "explain":
      var explanation = Explanation(entity: line.argument)
      explanation.predicate = line.parts[.condition]
      explanation.sort = Self.list(line.parts[.sort])
      explanation.limit = try number(line, .limit) ?? 0
      return .answer(try explanation.answer(store.place, model: model))
    default: return nil
    }
  }

  private func rows(_ line: QueryLine) throws -> Answer {
    guard line.argument.isEmpty else {
      throw ToolError(
        "\(line.argument) is not understood. Write \(line.head) where CONDITION; help lists the commands.",
        .usage)
    }
    guard store.model.entitiesByName.keys.contains(where: { $0.lowercased() == line.head.lowercased() })
    else {
      let entities = store.concreteEntities.compactMap(\.name).joined(separator: ", ")
      throw ToolError(
        "\(line.head) is no command and no entity. The store has \(entities.isEmpty ? "no entity" : entities); help lists "
          + "the commands.", .usage)
    }
    var listing = RowListing(entity: line.head)
    listing.predicate = line.parts[.condition]
    listing.sort = Self.list(line.parts[.sort])
    listing.limit = max(1, try number(line, .limit) ?? 20)
    listing.offset = try number(line, .offset) ?? 0
    listing.columns = Self.list(line.parts[.columns])
    var answer = try listing.answer(store)
    if answer.note != nil {
      answer.note = "More rows follow: offset \(listing.offset + listing.limit), or a greater limit."
    }
    return answer
  }

  private func number(_ line: QueryLine, _ part: QueryLine.Part) throws(ToolError) -> Int? {
    guard let text = line.parts[part] else { return nil }
    guard let number = Int(text), number >= 0 else {
      throw ToolError("\(text) is no number for \(part.rawValue).", .usage)
    }
    return number
  }

  private static func list(_ text: String?) -> [String] {
    (text ?? "").split(separator: ",").map { part in
      var words = part.split(whereSeparator: \.isWhitespace).map(String.init)
      // As SQL writes it.
      switch words.last?.lowercased() {
      case "desc" where words.count == 2: words = ["-" + words[0]]
      case "asc" where words.count == 2: words.removeLast()
      default: break
      }
      return plain(words.joined(separator: " "))
    }
  }

  /// A key path without the marks of names that are also words: `#limit`.
  private static func plain(_ path: String) -> String {
    let sign = path.hasPrefix("-") ? "-" : ""
    let names = path.dropFirst(sign.count).split(separator: ".", omittingEmptySubsequences: false)
    return sign + names.map { $0.hasPrefix("#") ? String($0.dropFirst()) : String($0) }.joined(separator: ".")
  }

  private static let help = """
    ENTITY [where CONDITION] [sort KEY, -KEY] [limit N] [offset N] [columns NAME, NAME]
                        objects as a table
    count ENTITY [where CONDITION]
    show ENTITY/pN      one object with its values and relationships
    explain ENTITY [where CONDITION] [sort KEY] [limit N]
                        the SQL, SQLite's plan, and an index that would help
    entities            the entities with the number of their objects
    info                what the store is
    mode table|json|csv|markdown
    quit

    Conditions are NSPredicate's formats: title BEGINSWITH "A" AND tags.@count > 2. An open quotation mark or bracket, or a
    backslash at the end, goes on in the next line. Tab completes.
    """
}
