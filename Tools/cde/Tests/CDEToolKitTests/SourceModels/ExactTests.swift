import CoreDataEvolution
import Foundation
import Testing

@testable import CDEToolKit

@Suite("Managed files and what would be generated")
struct ExactTests {
  private let old =
    #"<entity name="A"><attribute name="x" optional="YES" attributeType="String"/></entity><entity name="B"/>"#
  private let new =
    #"<entity name="A"><attribute name="y" optional="YES" attributeType="String"/></entity><entity name="C"/>"#

  private func validation(_ entities: String, _ folder: SourceFolder) throws -> SourceValidation {
    try SourceValidation(sourceModel(entities), path: "Small", .init(), folder: folder.url, mode: .exact)
  }

  private func generate(_ entities: String, _ folder: SourceFolder) throws {
    _ = try Generation(SourceGeneration(sourceModel(entities), .init()).sources(), in: folder.url).run(
      isDryRun: false)
  }

  @Test("Stale, edited, missing and left over files are named, and generating again is the remedy")
  func states() throws {
    let folder = try SourceFolder()
    try generate(old, folder)
    try folder.write("// code beside\n", to: "Other.swift")
    #expect(try validation(old, folder).exactFindings() == [])
    #expect(try !validation(old, folder).answer().hasFindings)
    let stale = try validation(new, folder).exactFindings()
    #expect(stale.map(\.rule) == [.staleFile, .leftoverFile, .missingFile])
    #expect(stale.map(\.subject) == ["A.swift", "B.swift", "C.swift"])
    let text = try folder.text("A.swift")
    #expect(
      text.split(separator: "\n", omittingEmptySubsequences: false)[stale[0].line - 1].contains("var x"))
    try folder.write(text.replacing("var x: String?", with: "var x: String? = \"mine\""), to: "A.swift")
    let edited = try validation(old, folder).exactFindings()
    #expect(edited.map(\.rule) == [.editedFile])
    #expect(try validation(old, folder).answer().hasFindings)
    try generate(new, folder)
    #expect(try validation(new, folder).exactFindings() == [])
    #expect(try folder.names() == ["A.swift", "C.swift", "Other.swift"])
  }

  @Test("Spaces and line breaks of a formatter are no edit, and those of a text are")
  func formatted() throws {
    let entities =
      #"<entity name="A"><attribute name="x" optional="YES" attributeType="String" defaultValueString="two words"/></entity>"#
    let folder = try SourceFolder()
    try generate(entities, folder)
    let text = try folder.text("A.swift")
    try folder.write(text.replacing("  var x: String? =", with: "\tvar x:\n\t\tString? ="), to: "A.swift")
    #expect(try validation(entities, folder).exactFindings() == [])
    try folder.write(text.replacing("two words", with: "two  words"), to: "A.swift")
    #expect(try validation(entities, folder).exactFindings().map(\.rule) == [.editedFile])
  }

  @Test("A file without the mark in the place of a generated one is named")
  func foreign() throws {
    let folder = try SourceFolder()
    try folder.write("final class B {}\n", to: "B.swift")
    #expect(try validation(old, folder).exactFindings().map(\.rule) == [.missingFile, .missingFile])
    #expect(try validation(old, folder).exactFindings()[1].message.contains("was not generated"))
  }

  @Test("--fix does not go with the mode exact, and a validation needs a folder")
  func usage() throws {
    let folder = try SourceFolder()
    let error = #expect(throws: ToolError.self) { try validation(old, folder).answer(fixing: .write) }
    #expect(error?.status == .usage)
    #expect(throws: ToolError.self) { try SourceValidation(sourceModel(old), path: "Small", .init()) }
  }
}
