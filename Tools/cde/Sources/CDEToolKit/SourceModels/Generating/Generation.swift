import Foundation

/// Brings a folder to what a model and its configuration make.
public struct Generation {
  /// What becomes of one file.
  public enum Action: String, Sendable {
    case create, replace, unchanged, remove, keep
  }

  struct Step {
    var action: Action
    var url: URL
    var text: String?
    /// What is worth a word.
    var note = ""
  }

  let sources: GeneratedSources
  let folder: URL

  public init(_ sources: GeneratedSources, in folder: URL) {
    self.sources = sources
    self.folder = folder
  }

  /// The answer of `cde model generate`.
  ///
  /// - Parameter isDryRun: whether nothing is written.
  /// - Throws: ``ToolError`` that names a file without the mark in the place of a generated one. Nothing is written
  ///   then.
  public func run(isDryRun: Bool) throws -> Answer {
    let steps = try steps()
    if !isDryRun { try carryOut(steps) }
    var table = Table([.init("action"), .init("file"), .init("note")])
    for step in steps {
      table.rows.append([Cell(step.action.rawValue), Cell(step.url.path), Cell(step.note)])
    }
    var blocks: [Answer.Block] = [.table(table)]
    if !sources.remarks.isEmpty { blocks.append(.text(sources.remarks.joined(separator: "\n"))) }
    let verdict =
      switch sources.keepsVersion {
      case true: "A model made of the classes has the version of this one."
      case false:
        "A model made of the classes has another version than this one; load the model's file, which the classes fit."
      default:
        "A container over the classes opens stores of this model if the remarks do not concern what they store."
      }
    blocks.append(.text(verdict + (isDryRun ? " Nothing was written." : "")))
    return Answer(
      blocks,
      json: .object([
        .init("files", table.json), .init("remarks", .array(sources.remarks.map { .string($0) })),
        .init("keepsVersion", sources.keepsVersion.map { .bool($0) } ?? .null),
        .init("written", .bool(!isDryRun)),
      ]))
  }

  private func steps() throws -> [Step] {
    var steps: [Step] = []
    for file in sources.files {
      let url = folder.appendingPathComponent(file.name)
      guard let known = try Self.text(at: url) else {
        steps.append(Step(action: .create, url: url, text: file.text))
        continue
      }
      guard let mark = ManagedFile(known) else {
        throw ToolError(
          "\(url.path) was not generated, so it is not replaced. Move it away, or choose another output folder."
        )
      }
      guard mark.model == sources.modelName else {
        throw ToolError(
          "\(url.path) was generated for the model \(mark.model), so it is not replaced. Choose another output folder."
        )
      }
      if ManagedFile.isSame(known, file.text) {
        steps.append(Step(action: .unchanged, url: url))
      } else {
        let note = mark.isUntouched ? "" : "had been edited by hand"
        steps.append(Step(action: .replace, url: url, text: file.text, note: note))
      }
    }
    for stub in sources.stubs {
      let url = folder.appendingPathComponent(stub.name)
      let exists = FileManager.default.fileExists(atPath: url.path)
      steps.append(
        Step(
          action: exists ? .keep : .create, url: url, text: exists ? nil : stub.text,
          note: "for code of your own"))
    }
    return steps + (try leftovers())
  }

  /// Managed files of this model that are not made any more.
  private func leftovers() throws -> [Step] {
    let current = Set(sources.files.map(\.name))
    return try Self.managedFiles(in: folder, of: sources.modelName).filter { !current.contains($0.name) }
      .map { name, mark in
        mark.isUntouched
          ? Step(action: .remove, url: folder.appendingPathComponent(name), note: "is not made any more")
          : Step(
            action: .keep, url: folder.appendingPathComponent(name),
            note: "is not made any more, and was edited by hand: remove it yourself")
      }
  }

  static func managedFiles(in folder: URL, of model: String) throws -> [(name: String, mark: ManagedFile)] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return try names.sorted().compactMap { name in
      guard name.hasSuffix(".swift"), let text = try text(at: folder.appendingPathComponent(name)),
        let mark = ManagedFile(text), mark.model == model
      else { return nil }
      return (name, mark)
    }
  }

  /// Nil if there is no such file.
  static func text(at url: URL) throws -> String? {
    guard FileManager.default.fileExists(atPath: url.path) else { return nil }
    guard let data = FileManager.default.contents(atPath: url.path) else {
      throw ToolError("\(url.path) can't be read. Check its permissions.")
    }
    return String(decoding: data, as: UTF8.self)
  }

  private func carryOut(_ steps: [Step]) throws {
    do { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) } catch {
      throw ToolError("The folder \(folder.path) can't be made. Choose another output folder.")
    }
    for step in steps {
      if let text = step.text { try FileReplacement.write(Array(text.utf8), to: step.url) }
      if step.action == .remove {
        do { try FileManager.default.removeItem(at: step.url) } catch {
          throw ToolError("\(step.url.path) can't be removed. Check the permissions of its folder.")
        }
      }
    }
  }
}
